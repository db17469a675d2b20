import { HEADERS } from '@perennial/wire';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { ChannelRegistry } from '../../catalog/channels/channel-registry.js';
import type { Clock } from '../../platform/clock.js';
import type { Queryable } from '../../platform/db/database.js';
import type { Caller } from '../../platform/db/sharing/caller.js';
import type { ConnectionShares } from '../../platform/db/sharing/connection-shares.js';
import { isValidFormToken } from '../../redeem/form-token.js';
import { type FormFields, readFormFields, readFormLink, readLink, type SignedLink } from '../../redeem/link.js';
import { ASSETS } from '../../redeem/page/assets.js';
import { benefitAnchor } from '../../redeem/page/benefit-list.js';
import { type Frame, renderMessagePage } from '../../redeem/page/layout.js';
import { claimAction, pageAddress, renderRedeemPage } from '../../redeem/page/redeem-page.js';
import { renderUnsubscribePage, UNSUBSCRIBE_ACTION, type UnsubscribeTry } from '../../redeem/page/unsubscribe-page.js';
import { type BenefitPosition, type RedeemOrder, readRedeemOrder, readRedeemPage } from '../../redeem/page-sql.js';
import { chooseTexts } from '../../redeem/texts/language.js';
import type { PageMessage, Texts } from '../../redeem/texts/texts.js';
import { parseTypedDigits, type Unsubscriber } from '../../redeem/unsubscribe.js';
import { findTries } from '../../redeem/unsubscribe-tries-sql.js';
import { createVisitor, type Visit } from '../../redeem/visit.js';
import type { Claimer, ClaimOutcome } from '../../subscriptions/steps/benefits/claim-benefit.js';
import { NodeDraining, NodeReadsOnly, toRefusal } from '../answers/respond.js';
import type { NodeLoad } from '../limits/node-load.js';
import type { RedeemLimits } from '../limits/redeem-limits.js';
import { redirect, sendAsset, sendPage } from './redeem-answer.js';
import { isCrossSite, MAX_FORM_BYTES, readForm } from './redeem-form.js';

export interface RedeemDeps {
  readonly database: Queryable;
  readonly shares: ConnectionShares;
  readonly channels: ChannelRegistry;
  readonly clock: Clock;
  readonly log: Logger;
  readonly limits: RedeemLimits;
  readonly claim: Claimer;
  readonly unsubscribe: Unsubscriber;
  /** Where links lead. */
  readonly redeemUrl: () => string;
}

export interface RedeemRouteContext {
  readonly isDraining: () => boolean;
  readonly load: NodeLoad;
  /** Whether its forms are refused. */
  readonly readsOnly: boolean;
  readonly lingerMs: number;
}

/** All visitors of pages together count as one channel for the load of the node. */
const PAGE_VISITORS = 'the redemption page';
/** Style and script, and every unknown path. */
const OTHER_PATHS = '/redeem/*';

/** The redemption page: what it shows, the steps that its forms take, and its style and script. */
export function addRedeemRoutes(
  app: FastifyInstance,
  deps: RedeemDeps,
  { isDraining, load, lingerMs, readsOnly }: RedeemRouteContext,
): void {
  const { shares, clock, log, limits } = deps;
  const visit = createVisitor(deps);
  const callers = new WeakMap<FastifyRequest, Caller>();

  const frameOf = (request: FastifyRequest): Frame => ({
    texts: chooseTexts(request.headers['accept-language']),
    root: new URL(deps.redeemUrl()).pathname.replace(/\/+$/, ''),
  });

  const sendMessage = (
    reply: FastifyReply,
    status: number,
    which: (texts: Texts) => PageMessage,
    headers = {},
  ): FastifyReply => {
    const frame = frameOf(reply.request);
    const page = renderMessagePage(frame, which(frame.texts));
    return sendPage(reply, { status, texts: frame.texts, page, headers }, lingerMs);
  };
  const refuse = (reply: FastifyReply) => sendMessage(reply, 404, (texts) => texts.refused);
  const refusePost = (reply: FastifyReply) => sendMessage(reply, 403, (texts) => texts.crossSite);

  /** A valid link has a limit of its own, which is checked before anything is read for it. */
  async function visitLink<Read extends RedeemOrder>(
    link: SignedLink | undefined,
    kind: 'open' | 'post',
    read: (channelId: number, orderNo: number) => Promise<Read | undefined>,
  ): Promise<Visit<Read> | undefined> {
    return (
      link &&
      visit(link, async (channelId, orderNo) => {
        limits.checkLink(link.sig, kind);
        return read(channelId, orderNo);
      })
    );
  }
  const orderFor = (channelId: number, orderNo: number) =>
    readRedeemOrder(shares.databaseFor(channelId), channelId, orderNo);
  const pageFor = (from: BenefitPosition | undefined) => (channelId: number, orderNo: number) =>
    readRedeemPage(shares.databaseFor(channelId), channelId, orderNo, clock.now(), from);

  async function sendRedeemPage(reply: FastifyReply, { link, from }: AskedPage, status = 200, notice?: string) {
    const frame = frameOf(reply.request);
    const visited = await visitLink(link, 'open', pageFor(from));
    if (!visited) return refuse(reply);
    const page = renderRedeemPage(frame, visited, { now: clock.now(), from, notice });
    return sendPage(reply, { status, texts: frame.texts, page, channel: visited.channel }, lingerMs);
  }

  /** Defined while the user may not try again, because too many tries were wrong. */
  async function findLock({ channel, link }: Visit): Promise<UnsubscribeTry | undefined> {
    const { lockedSeconds } = await findTries(
      shares.databaseFor(channel.channelId),
      channel.channelId,
      link.channelUserId,
    );
    return lockedSeconds === null ? undefined : { kind: 'locked', seconds: lockedSeconds };
  }

  async function sendUnsubscribePage(reply: FastifyReply, { link }: AskedPage, status = 200, tried?: UnsubscribeTry) {
    const { texts, root } = frameOf(reply.request);
    const visited = await visitLink(link, 'open', orderFor);
    if (!visited) return refuse(reply);
    const page = renderUnsubscribePage({ texts, root }, visited, tried ?? (await findLock(visited)));
    const headers = tried?.kind === 'locked' ? { 'retry-after': String(tried.seconds) } : {};
    return sendPage(reply, { status, texts, page, channel: visited.channel, headers }, lingerMs);
  }

  /** A post from another site is refused before its body is read. */
  async function readPost(
    request: FastifyRequest,
  ): Promise<{ fields: FormFields; visited: Visit | undefined } | undefined> {
    const fields = isCrossSite(request, new URL(deps.redeemUrl()).origin) ? undefined : readForm(request);
    return fields && { fields, visited: await visitLink(readFormLink(fields), 'post', orderFor) };
  }

  void app.register(async (pages) => {
    pages.addHook('onRequest', async (request) => {
      if (isDraining()) throw new NodeDraining();
      if (readsOnly && request.method === 'POST') throw new NodeReadsOnly();
      // Style and script are answered from memory and cost little, and each page loads both.
      if (request.routeOptions.url === OTHER_PATHS) return;
      limits.checkAddress(request.ip, request.method === 'POST' ? 'post' : 'open');
    });
    pages.addHook('preHandler', async (request, reply) => {
      if (request.routeOptions.url === OTHER_PATHS) return;
      const visit = load.enter(PAGE_VISITORS, request.raw.socket);
      callers.set(request, visit);
      visit.markAdmitted();
      reply.raw.once('close', () => visit.leave());
    });
    pages.addHook('onResponse', async (request, reply) => {
      const ms = Math.round(reply.elapsedTime * 10) / 10;
      // The route, never the address: a link gives access.
      const line = { requestId: request.id, method: request.method, endpoint: request.routeOptions.url };
      log.info({ ...line, status: reply.statusCode, ms }, 'page');
    });
    pages.setErrorHandler((error, request, reply) => {
      const { result, headers, isFault } = toRefusal(error);
      const where = { requestId: request.id, path: request.routeOptions.url };
      if (request.raw.destroyed && !request.raw.complete) log.info(where, 'the client hung up');
      else if (isFault) log.error({ err: error, ...where }, 'fault');
      const seconds = Number(headers[HEADERS.retryAfter] ?? 1);
      if (result.http === 429) return sendMessage(reply, 429, (texts) => texts.tooOften(seconds), headers);
      if (result.http === 503) return sendMessage(reply, 503, (texts) => texts.away, headers);
      if (result.http === 500) return sendMessage(reply, 500, (texts) => texts.fault(request.id), headers);
      return sendMessage(reply, 400, (texts) => texts.crossSite, headers);
    });

    pages.get('/redeem', (request, reply) => sendRedeemPage(reply, asked(request)));
    pages.get('/redeem/unsubscribe', (request, reply) => sendUnsubscribePage(reply, asked(request)));
    pages.get<{ Params: { '*': string } }>(OTHER_PATHS, async (request, reply) => {
      const asset = ASSETS.find(({ name }) => name === request.params['*']);
      return asset ? sendAsset(reply, asset) : refuse(reply);
    });

    pages.post('/redeem/claim', { bodyLimit: MAX_FORM_BYTES }, async (request, reply) => {
      const post = await readPost(request);
      if (!post) return refusePost(reply);
      const { fields, visited } = post;
      if (!visited) return refuse(reply);
      const benefit = readBenefitReference(fields.get('claim'));
      if (!benefit || !isToken(fields.get('claim')?.split('-').slice(2).join('-'), visited, claimAction(benefit))) {
        return refusePost(reply);
      }
      const { channel, link } = visited;
      const asked = { ...benefit, orderNo: link.orderNo };
      const asking = { origin: { requestId: request.id }, caller: callers.get(request) };
      const outcome = await deps.claim(shares.databaseFor(channel.channelId), channel, asked, asking);
      const frame = frameOf(request);
      const notice = claimNotice(frame.texts, outcome);
      const from = readBenefitReference(fields.get('from'));
      if (notice !== undefined) return sendRedeemPage(reply, { link: visited.link, from }, 409, notice);
      return redirect(reply, `${pageAddress(frame, visited.link, from)}#${benefitAnchor(benefit)}`);
    });

    pages.post('/redeem/unsubscribe', { bodyLimit: MAX_FORM_BYTES }, async (request, reply) => {
      const post = await readPost(request);
      if (!post) return refusePost(reply);
      const { fields, visited } = post;
      if (!visited) return refuse(reply);
      if (!isToken(fields.get('token'), visited, UNSUBSCRIBE_ACTION)) return refusePost(reply);
      const digits = parseTypedDigits(fields.get('digits') ?? '');
      const tried: UnsubscribeTry =
        digits === undefined
          ? { kind: 'not-digits' }
          : await deps.unsubscribe(
              shares.databaseFor(visited.channel.channelId),
              visited.channel,
              visited.link.orderNo,
              digits,
            );
      if (tried.kind === 'ended') return redirect(reply, pageAddress(frameOf(request), visited.link));
      return sendUnsubscribePage(reply, visited, TRIED_STATUS[tried.kind], tried);
    });
  });
}

const TRIED_STATUS = { 'not-digits': 422, wrong: 422, locked: 429, 'not-active': 409, 'no-mobile': 409 };

interface AskedPage {
  readonly link: SignedLink | undefined;
  /** The benefit that the page is to begin with. */
  readonly from?: BenefitPosition | undefined;
}

/** The link and the first benefit that an address names. */
function asked({ raw }: FastifyRequest): AskedPage {
  const fields = readFormFields((raw.url ?? '').replace(/^[^?]*\??/, ''));
  return { link: readLink(fields), from: readBenefitReference(fields.get('from')) };
}

/** `3-1` is the first benefit of the third period; more may follow after another dash. */
function readBenefitReference(text: string | undefined): BenefitPosition | undefined {
  const [, cycleNo, position] = /^(\d{1,4})-(\d{1,2})(?:-|$)/.exec(text ?? '') ?? [];
  return cycleNo === undefined ? undefined : { cycleNo: Number(cycleNo), position: Number(position) };
}

function isToken(given: string | undefined, { channel, link }: Visit, action: string): boolean {
  return given !== undefined && isValidFormToken(given, channel.callbackSecret, link, action);
}

/** Undefined when the page itself shows the outcome: the code, or that it is on its way. */
function claimNotice(texts: Texts, outcome: ClaimOutcome): string | undefined {
  const notices: Partial<Record<ClaimOutcome, string>> = {
    EXPIRED: texts.claimExpired,
    REVOKED: texts.claimRevoked,
    UNKNOWN: texts.claimUnknown,
  };
  return notices[outcome];
}
