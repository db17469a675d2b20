import { HEADERS } from '@perennial/wire';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { readFormLink } from '../../redeem/link.js';
import { placeAddress } from '../../redeem/page/addresses.js';
import { ASSETS } from '../../redeem/page/assets.js';
import { LIST_PATHS } from '../../redeem/page/list-pages.js';
import type { MessagePage } from '../../redeem/page/message-page.js';
import type { Texts } from '../../redeem/texts/en.js';
import { NodeClockWrong, NodeDraining, NodeReadsOnly, pageLine, toRefusal } from '../answers/respond.js';
import type { NodeLoad } from '../limits/node-load.js';
import { sendAsset } from './redeem-answer.js';
import { readAsked, readBenefit, readDone, readPostedFields } from './redeem-asked.js';
import { addClaimForms } from './redeem-claims.js';
import { createRedeemContext, type RedeemDeps } from './redeem-context.js';
import { addSendLinkForm } from './redeem-send-link.js';
import { addUnsubscribePages } from './redeem-unsubscribe.js';
import { createRedeemViews } from './redeem-views.js';

export interface RedeemRouteContext {
  readonly isDraining: () => boolean;
  readonly load: NodeLoad;
  readonly readsOnly: boolean;
  readonly halfCloseMs: number;
  readonly isClockWrong: () => boolean;
}

/** All visitors of pages count as one channel for the load of the node. */
const PAGE_VISITORS = 'the redemption page';
/** The route of the style, of the script, and of all unknown paths. */
const OTHER_PATHS = '/redeem/*';
const LISTS = ['TO_CLAIM', 'CLAIMED', 'PAST'] as const;

/** Adds the redemption page: its views, the actions of its forms, and its style and script. */
export function addRedeemRoutes(
  app: FastifyInstance,
  deps: RedeemDeps,
  { isDraining, load, halfCloseMs, readsOnly, isClockWrong }: RedeemRouteContext,
): void {
  const { log, limits } = deps;
  const context = createRedeemContext(deps, halfCloseMs);
  const { callers, frameOf, refuse, refusePost, sendMessagePage } = context;
  const views = createRedeemViews(context);

  /**
   * Returns the URL to continue at after an error: the same page, or after a post the page with the form. Undefined if
   * the post has no link.
   */
  function findWayOn(request: FastifyRequest): string | undefined {
    if (request.method === 'GET') return '';
    const fields = readPostedFields(request);
    const link = readFormLink(fields);
    return link && placeAddress(frameOf(request), link, readBenefit(fields.get('from')));
  }

  void app.register(async (pages) => {
    pages.addHook('onRequest', (request, _reply, done) => {
      if (isDraining()) throw new NodeDraining();
      if (isClockWrong()) throw new NodeClockWrong();
      if (readsOnly && request.method === 'POST') throw new NodeReadsOnly();
      // Style and script do not count, because they come from memory and each page loads both.
      if (request.routeOptions.url !== OTHER_PATHS) {
        limits.checkAddress(request.ip, request.method === 'POST' ? 'post' : 'open');
      }
      done();
    });
    pages.addHook('preHandler', (request, reply, done) => {
      if (request.routeOptions.url !== OTHER_PATHS) {
        const visit = load.enter(PAGE_VISITORS, request.raw.socket);
        callers.set(request, visit);
        visit.markAdmitted();
        reply.raw.once('close', () => visit.leave());
      }
      done();
    });
    pages.addHook('onResponse', (_request, reply, done) => {
      log.info(pageLine(reply), 'page');
      done();
    });
    pages.setErrorHandler((error, request, reply) => {
      const { result, headers, isFault } = toRefusal(error);
      const where = { requestId: request.id, path: request.routeOptions.url };
      if (request.raw.destroyed && !request.raw.complete) log.info(where, 'the client hung up');
      else if (isFault) log.error({ err: error, ...where }, 'fault');
      const seconds = Number(headers[HEADERS.retryAfter] ?? 1);
      const again = findWayOn(request);
      const say = (drawing: MessagePage['drawing'], which: (texts: Texts) => MessagePage['message']) =>
        sendMessagePage(reply, result.http, (texts) => ({ drawing, message: which(texts), again }), headers);
      if (result.http === 429) return say('busy', (texts) => texts.tooOften(seconds));
      if (result.http === 503) return say('away', (texts) => texts.away);
      if (result.http === 500) return say('fault', (texts) => texts.fault(request.id));
      return refusePost(reply, 400);
    });

    pages.get('/redeem', (request, reply) => {
      const { link, done } = readAsked(request);
      return views.sendRedeemPage(reply, link, readDone(done));
    });
    for (const list of LISTS) {
      pages.get(`/redeem${LIST_PATHS[list]}`, (request, reply) => views.sendList(reply, list, readAsked(request)));
    }
    pages.get('/redeem/receipt', (_request, reply) => views.sendReceipt(reply));
    pages.get('/redeem/payments', (_request, reply) => views.sendPayments(reply));
    pages.get<{ Params: { '*': string } }>(OTHER_PATHS, async (request, reply) => {
      const asset = ASSETS.find(({ name }) => name === request.params['*']);
      return asset ? sendAsset(reply, asset) : refuse(reply);
    });
    addClaimForms(pages, context, views);
    addUnsubscribePages(pages, context);
    if (deps.sendMessage) addSendLinkForm(pages, context, deps.sendMessage);
  });
}
