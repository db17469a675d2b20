import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Queryable } from '../../platform/db/database.js';
import type { FormFields, SignedLink } from '../../redeem/link.js';
import { pageAddress } from '../../redeem/page/addresses.js';
import { renderEndedPage } from '../../redeem/page/ended-page.js';
import {
  type ConfirmBy,
  renderUnsubscribePage,
  SEND_CODE_ACTION,
  UNSUBSCRIBE_ACTION,
  type UnsubscribeTry,
} from '../../redeem/page/unsubscribe-page.js';
import { findLinkToKeep } from '../../redeem/page-view.js';
import { sellerOf } from '../../redeem/seller.js';
import { type RedeemEnding, readRedeemEnding } from '../../redeem/store/ending-sql.js';
import { createCode, findLock, parseTypedCode, parseTypedDigits } from '../../redeem/unsubscribe.js';
import type { MessageSender } from '../../redeem/user-messages.js';
import type { Visit } from '../../redeem/visit.js';
import { addressGroup } from '../answers/minute-limit.js';
import { redirect } from './redeem-answer.js';
import { readAsked } from './redeem-asked.js';
import { isToken, type RedeemContext } from './redeem-context.js';
import { MAX_FORM_BYTES } from './redeem-form.js';

const TRIED_STATUS = {
  ended: 200,
  'not-digits': 422,
  wrong: 422,
  locked: 429,
  'not-active': 409,
  'no-mobile': 409,
  'not-code': 422,
  'wrong-code': 422,
  'no-code': 422,
  'too-often': 429,
  'not-sent': 503,
};

/** Adds the page that asks for confirmation, its forms, and the page after unsubscribing. */
export function addUnsubscribePages(pages: FastifyInstance, context: RedeemContext): void {
  const { deps, canSend, databaseOf, frameOf, open, readPost, refuse, refusePost, send, visitLink, withPost } = context;
  const { clock } = deps;

  const readEnding = (db: Queryable, channelId: number, orderNo: number) =>
    readRedeemEnding(db, channelId, orderNo, clock.now());

  /**
   * Returns the link that the user should keep. The confirmation has the URL of this link, so it shows the right
   * deadlines.
   */
  const linkAfterEnd = (visited: Visit<RedeemEnding>): SignedLink =>
    findLinkToKeep(visited, visited.read.order, visited.read)?.link ?? visited.link;

  /** Returns the lock of this visitor if they have typed wrong digits too often, else undefined. */
  async function findVisitorLock(ip: string, { channel, link }: Visit): Promise<UnsubscribeTry | undefined> {
    const lock = await findLock(databaseOf(channel), channel, link.channelUserId, addressGroup(ip));
    return lock && { kind: 'locked', ...lock };
  }

  /**
   * Sends the unsubscribe page. After a post, redirects to the confirmation if this post or an earlier one has
   * unsubscribed the order.
   */
  async function sendUnsubscribePage(
    reply: FastifyReply,
    link: SignedLink | undefined,
    by: ConfirmBy,
    tried?: UnsubscribeTry,
  ) {
    const hasEnded = tried?.kind === 'ended';
    const visited = await visitLink(link, hasEnded ? 'counted' : 'open', readEnding);
    if (visited?.kind !== 'open') return refuse(reply, visited);
    const frame = frameOf(reply.request);
    if ((hasEnded || tried?.kind === 'not-active') && visited.read.order.status === 'UNSUBSCRIBED') {
      return redirect(reply, pageAddress(frame, linkAfterEnd(visited), '/ended'));
    }
    const lock = tried || by === 'code' ? undefined : await findVisitorLock(reply.request.ip, visited);
    const page = renderUnsubscribePage(frame, visited, by, tried ?? lock);
    const status = tried ? TRIED_STATUS[tried.kind] : 200;
    const wait = tried?.kind === 'locked' ? tried.seconds : null;
    const headers = wait === null ? {} : { 'retry-after': String(wait) };
    return send(reply, frame, page, { status, channel: visited.channel, headers });
  }

  /** Runs `step` for a post with a valid link and token, or refuses the post. */
  const withForm = (
    reply: FastifyReply,
    action: string,
    step: (fields: FormFields, visited: Visit) => Promise<FastifyReply>,
  ) =>
    withPost(reply, readPost(reply.request), async (fields, visited) =>
      isToken(fields.get('token'), visited, action) ? step(fields, visited) : refusePost(reply),
    );

  pages.get('/redeem/unsubscribe', (request, reply) => {
    const { link, by } = readAsked(request);
    return sendUnsubscribePage(reply, link, canSend && by === 'code' ? 'code' : 'digits');
  });

  pages.post('/redeem/unsubscribe', { bodyLimit: MAX_FORM_BYTES }, (request, reply) =>
    withForm(reply, UNSUBSCRIBE_ACTION, async (fields, { channel, link }) => {
      const unsubscribe = (typed: Parameters<typeof deps.unsubscribe>[3]) =>
        deps.unsubscribe(databaseOf(channel), channel, link.orderNo, typed);
      const typedCode = fields.get('code');
      if (typedCode !== undefined && canSend) {
        const code = parseTypedCode(typedCode);
        const tried = code === undefined ? ({ kind: 'not-code' } as const) : await unsubscribe({ code });
        return sendUnsubscribePage(reply, link, 'code', tried);
      }
      const digits = parseTypedDigits(fields.get('digits') ?? '');
      const address = addressGroup(request.ip);
      const tried = digits === undefined ? ({ kind: 'not-digits' } as const) : await unsubscribe({ digits, address });
      return sendUnsubscribePage(reply, link, 'digits', tried);
    }),
  );

  /** Adds the form that sends a confirmation code to the user's login mobile. */
  function addSendCode(sendMessage: MessageSender): void {
    pages.post('/redeem/send-code', { bodyLimit: MAX_FORM_BYTES }, (request, reply) =>
      withForm(reply, SEND_CODE_ACTION, async (_fields, { channel, link }) => {
        const asking = { address: addressGroup(request.ip), now: clock.now() };
        const made = await createCode(databaseOf(channel), channel, link.orderNo, asking);
        if (typeof made === 'string') return sendUnsubscribePage(reply, link, 'code', { kind: made });
        const frame = frameOf(request);
        const { language, messages } = frame.texts;
        const { code, mobile } = made;
        const text = messages.code(sellerOf(channel).name, code);
        const { appId } = channel;
        const isSent = await sendMessage({ kind: 'CONFIRMATION_CODE', appId, mobile, language, text, code });
        if (!isSent) return sendUnsubscribePage(reply, link, 'code', { kind: 'not-sent' });
        return redirect(reply, pageAddress(frame, link, '/unsubscribe', { by: 'code' }));
      }),
    );
  }
  if (deps.sendMessage) addSendCode(deps.sendMessage);

  // Redirects to the order's page if the order was not cancelled.
  pages.get('/redeem/ended', (request, reply) =>
    open(reply, readAsked(request).link, readEnding, (frame, visited) => {
      if (visited.read.order.status !== 'UNSUBSCRIBED') return redirect(reply, pageAddress(frame, visited.link));
      const link = linkAfterEnd(visited);
      if (link !== visited.link) return redirect(reply, pageAddress(frame, link, '/ended'));
      return renderEndedPage(frame, visited);
    }),
  );
}
