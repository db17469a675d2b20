import { HEADERS } from '@perennial/wire';
import { createAmountFormat } from '@perennial/wire/currency';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { ChannelRegistry } from '../../catalog/channels/channel-registry.js';
import type { Clock } from '../../platform/clock.js';
import type { Queryable } from '../../platform/db/database.js';
import { createBatcher } from '../../platform/db/sharing/batcher.js';
import type { Caller } from '../../platform/db/sharing/caller.js';
import type { ConnectionShares } from '../../platform/db/sharing/connection-shares.js';
import { claimEach } from '../../redeem/claim-period.js';
import type { CodesShown } from '../../redeem/codes-shown.js';
import { isValidFormToken } from '../../redeem/form-token.js';
import { type FormFields, readFormFields, readFormLink, readLink, type SignedLink } from '../../redeem/link.js';
import { benefitText, doneAddress, pageAddress, placeAddress } from '../../redeem/page/addresses.js';
import { ASSETS } from '../../redeem/page/assets.js';
import { renderEndedPage } from '../../redeem/page/ended-page.js';
import type { Frame } from '../../redeem/page/layout.js';
import { LIST_PATHS, renderListPage, renderPaymentsPage } from '../../redeem/page/list-pages.js';
import {
  type MessagePage,
  renderExpiredPage,
  renderMessagePage,
  renderRefusedPage,
  renderSentPage,
} from '../../redeem/page/message-page.js';
import { CLAIM_EVERYTHING_ACTION, claimAction, claimAllAction } from '../../redeem/page/parts/claimable-groups.js';
import { SEND_LINK_ACTION } from '../../redeem/page/parts/link-expiry.js';
import { renderRedeemPage } from '../../redeem/page/redeem-page.js';
import {
  type ConfirmBy,
  renderUnsubscribePage,
  SEND_CODE_ACTION,
  UNSUBSCRIBE_ACTION,
  type UnsubscribeTry,
} from '../../redeem/page/unsubscribe-page.js';
import { EVERYTHING, findLinkToKeep } from '../../redeem/page-view.js';
import { sellerOf } from '../../redeem/seller.js';
import type { BenefitPosition, JustClaimed } from '../../redeem/store/benefits-sql.js';
import { listClaimable, listClaimableOfPeriod } from '../../redeem/store/claimable-sql.js';
import { type RedeemEnding, readRedeemEnding } from '../../redeem/store/ending-sql.js';
import { readRedeemList } from '../../redeem/store/list-page-sql.js';
import { type AskedPage, listPageBenefits, type ReadPage, readRedeemPages } from '../../redeem/store/main-page-sql.js';
import { type RedeemOrder, readRedeemOrder } from '../../redeem/store/order-sql.js';
import { readRedeemPayments } from '../../redeem/store/payments-sql.js';
import type { BenefitList } from '../../redeem/store/ranked-benefits-sql.js';
import type { SentLink, Texts } from '../../redeem/texts/en.js';
import { chooseTexts } from '../../redeem/texts/language.js';
import {
  createCode,
  findLock,
  parseTypedCode,
  parseTypedDigits,
  reserveMessage,
  type Unsubscriber,
} from '../../redeem/unsubscribe.js';
import type { MessageSender } from '../../redeem/user-messages.js';
import { createLinkCheck, createVisitor, type LateVisit, type Visit } from '../../redeem/visit.js';
import { createRedeemLinks } from '../../subscriptions/domain/orders/redeem-links.js';
import type { Claimer, ClaimOutcome } from '../../subscriptions/steps/benefits/claim-benefit.js';
import type { SharedClaimer } from '../../subscriptions/steps/benefits/claim-together.js';
import { addressGroup } from '../answers/minute-limit.js';
import { NodeDraining, NodeReadsOnly, pageLine, toRefusal } from '../answers/respond.js';
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
  readonly claimTogether: SharedClaimer;
  readonly codesShown?: CodesShown | undefined;
  readonly unsubscribe: Unsubscriber;
  /** Undefined if the installation cannot send messages to users. */
  readonly sendMessage: MessageSender | undefined;
  readonly redeemUrl: () => string;
  readonly currency: string;
}

export interface RedeemRouteContext {
  readonly isDraining: () => boolean;
  readonly load: NodeLoad;
  readonly readsOnly: boolean;
  readonly halfCloseMs: number;
}

/** All visitors of pages count as one channel for the load of the node. */
const PAGE_VISITORS = 'the redemption page';
/** The route of the style, of the script, and of all unknown paths. */
const OTHER_PATHS = '/redeem/*';

/** Adds the redemption page: its views, the actions of its forms, and its style and script. */
export function addRedeemRoutes(
  app: FastifyInstance,
  deps: RedeemDeps,
  { isDraining, load, halfCloseMs, readsOnly }: RedeemRouteContext,
): void {
  const { shares, clock, log, limits } = deps;
  const visit = createVisitor(deps);
  const findChannelOf = createLinkCheck(deps);
  const callers = new WeakMap<FastifyRequest, Caller>();
  /** Reads pages. Pages that are opened at the same time share a statement. */
  const readPage = createBatcher<AskedPage, ReadPage | undefined>({
    maxBatch: 16,
    slots: 2,
    channelOf: ({ channelId }) => channelId,
    run: (asked) => readRedeemPages(deps.database, asked),
  });

  let known = { of: '', origin: '', path: '' };
  /** Returns the origin and path at which users reach this service. */
  function findPlace() {
    const of = deps.redeemUrl();
    if (of !== known.of) {
      const { origin, pathname } = new URL(of);
      known = { of, origin, path: pathname.replace(/\/+$/, '') };
    }
    return known;
  }
  const money = {
    en: createAmountFormat(deps.currency, 'en-GB'),
    zh: createAmountFormat(deps.currency, 'zh-CN'),
  };
  const canSend = deps.sendMessage !== undefined;
  const links = createRedeemLinks(deps.redeemUrl, clock);
  function frameOf(request: FastifyRequest): Frame {
    const lang = readLanguage(request.raw.url ?? '');
    const texts = chooseTexts(lang ?? request.headers['accept-language']);
    const root = findPlace().path;
    const switchAddress = () => addressInLanguage(request, root, texts.other.language);
    return { texts, money: money[texts.language], root, lang, switchAddress, canSend };
  }

  const sendMessage = (
    reply: FastifyReply,
    status: number,
    which: (texts: Texts) => MessagePage,
    headers = {},
  ): FastifyReply => {
    const frame = frameOf(reply.request);
    const page = renderMessagePage(frame, which(frame.texts));
    return sendPage(reply, { status, texts: frame.texts, page, headers }, halfCloseMs);
  };
  /**
   * Refuses a link. An expired link was genuine, so its page names the seller. All other refused links get an identical
   * page.
   */
  function refuse(reply: FastifyReply, late?: LateVisit): FastifyReply {
    const frame = frameOf(reply.request);
    const { texts, root } = frame;
    if (!late) {
      // The URL of the refused link is not on the page, so that all refused links get the same bytes.
      const switchAddress = () => `${root}/redeem?lang=${texts.other.language}`;
      return sendPage(reply, { status: 404, texts, page: renderRefusedPage({ ...frame, switchAddress }) }, halfCloseMs);
    }
    const page = renderExpiredPage(frame, late);
    return sendPage(reply, { status: 410, texts, page, channel: late.channel }, halfCloseMs);
  }
  const refusePost = (reply: FastifyReply, status = 403) =>
    sendMessage(reply, status, (texts) => ({ drawing: 'foreign', message: texts.crossSite }));

  /**
   * Finds what a link shows. Before it reads the order, it checks the link's limit, unless the post was counted
   * already.
   */
  async function visitLink<Read extends RedeemOrder>(
    link: SignedLink | undefined,
    kind: 'open' | 'post' | 'counted',
    read: (db: Queryable, channelId: number, orderNo: number) => Promise<Read | undefined>,
  ): Promise<Visit<Read> | LateVisit | undefined> {
    return (
      link &&
      visit(link, async (channelId, orderNo) => {
        if (kind !== 'counted') limits.checkLink(link.sig, kind);
        return read(shares.databaseFor(channelId), channelId, orderNo);
      })
    );
  }

  /** Sends a page for the link, or the refusal. */
  async function open<Read extends RedeemOrder>(
    reply: FastifyReply,
    link: SignedLink | undefined,
    read: (lang: string, db: Queryable, channelId: number, orderNo: number) => Promise<Read | undefined>,
    render: (frame: Frame, visited: Visit<Read>) => string | FastifyReply,
    answer: { readonly status?: number } = {},
  ): Promise<FastifyReply> {
    const frame = frameOf(reply.request);
    const visited = await visitLink(link, 'open', (...whose) => read(frame.texts.language, ...whose));
    if (visited?.kind !== 'open') return refuse(reply, visited);
    const page = render(frame, visited);
    if (typeof page !== 'string') return page;
    const { status = 200 } = answer;
    return sendPage(reply, { status, texts: frame.texts, page, channel: visited.channel }, halfCloseMs);
  }

  function sendRedeemPage(reply: FastifyReply, link: SignedLink | undefined, done?: JustClaimed, notice?: string) {
    const now = clock.now();
    return open(
      reply,
      link,
      async (lang, db, channelId, orderNo) => {
        const which = { channelId, orderNo, lang };
        const page = await readPage(which, callers.get(reply.request));
        return page && listPageBenefits(db, which, page, { now, done });
      },
      (frame, visited) => renderRedeemPage(frame, visited, { now, done, notice }),
      { status: notice === undefined ? 200 : 409 },
    );
  }

  function sendList(
    reply: FastifyReply,
    list: BenefitList,
    { link, from, done: doneText }: Pick<AskedAddress, 'link' | 'from' | 'done'>,
    notice?: string,
  ) {
    const now = clock.now();
    const done = list === 'TO_CLAIM' ? readDone(doneText) : undefined;
    return open(
      reply,
      link,
      (lang, db, channelId, orderNo) =>
        readRedeemList(db, channelId, orderNo, { now, lang, list, from: readBenefit(from), done }),
      (frame, visited) => renderListPage(frame, visited, { list, now, done, notice }),
      { status: notice === undefined ? 200 : 409 },
    );
  }

  /** Sends the page from which the user claimed, with the outcome of the claim. */
  function sendPlace(reply: FastifyReply, link: SignedLink, from: string | undefined, notice: string) {
    return readBenefit(from)
      ? sendList(reply, 'TO_CLAIM', { link, from, done: undefined }, notice)
      : sendRedeemPage(reply, link, undefined, notice);
  }

  function sendPayments(reply: FastifyReply) {
    const { link, from } = asked(reply.request);
    const fromCycleNo = /^[1-9]\d{0,3}$/.test(from ?? '') ? Number(from) : MAX_CYCLE_NO;
    return open(
      reply,
      link,
      (_lang, db, channelId, orderNo) => readRedeemPayments(db, channelId, orderNo, fromCycleNo),
      renderPaymentsPage,
    );
  }

  /** Returns the lock of this visitor if they have typed wrong digits too often, else undefined. */
  async function findVisitorLock({ ip }: FastifyRequest, visit: Visit): Promise<UnsubscribeTry | undefined> {
    const { channel, link } = visit;
    const db = shares.databaseFor(channel.channelId);
    const lock = await findLock(db, channel, link.channelUserId, addressGroup(ip));
    return lock && { kind: 'locked', ...lock };
  }

  const endingFor = (db: Queryable, channelId: number, orderNo: number) =>
    readRedeemEnding(db, channelId, orderNo, clock.now());

  /**
   * Returns the link that the user should keep. The confirmation has the URL of this link, so it shows the right
   * deadlines.
   */
  const linkAfterEnd = (visited: Visit<RedeemEnding>): SignedLink =>
    findLinkToKeep(visited, visited.read.order, visited.read)?.link ?? visited.link;

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
    const visited = await visitLink(link, hasEnded ? 'counted' : 'open', endingFor);
    if (visited?.kind !== 'open') return refuse(reply, visited);
    const frame = frameOf(reply.request);
    if ((hasEnded || tried?.kind === 'not-active') && visited.read.order.status === 'UNSUBSCRIBED') {
      return redirect(reply, pageAddress(frame, linkAfterEnd(visited), '/ended'));
    }
    const lock = tried || by === 'code' ? undefined : await findVisitorLock(reply.request, visited);
    const page = renderUnsubscribePage(frame, visited, by, tried ?? lock);
    const status = tried === undefined || tried.kind === 'ended' ? 200 : TRIED_STATUS[tried.kind];
    const wait = tried?.kind === 'locked' ? tried.seconds : null;
    const headers = wait === null ? {} : { 'retry-after': String(wait) };
    return sendPage(reply, { status, texts: frame.texts, page, channel: visited.channel, headers }, halfCloseMs);
  }

  /** Sends the confirmation of a cancellation. Redirects to the order's page if the order was not cancelled. */
  const sendEndedPage = (reply: FastifyReply) =>
    open(
      reply,
      asked(reply.request).link,
      (_lang, ...whose) => endingFor(...whose),
      (frame, visited) => {
        if (visited.read.order.status !== 'UNSUBSCRIBED') return redirect(reply, pageAddress(frame, visited.link));
        const link = linkAfterEnd(visited);
        if (link !== visited.link) return redirect(reply, pageAddress(frame, link, '/ended'));
        return renderEndedPage(frame, visited);
      },
    );

  /** Reads the fields of a form. Returns undefined if the post comes from another site, or is no form. */
  const readPost = (request: FastifyRequest): FormFields | undefined =>
    isCrossSite(request, findPlace().origin) ? undefined : readForm(request);

  /** Runs `step` for a post with a valid link, or refuses the post. */
  async function withPost(
    reply: FastifyReply,
    fields: FormFields | undefined,
    step: (fields: FormFields, visited: Visit) => Promise<FastifyReply>,
    kind: 'post' | 'counted' = 'post',
  ): Promise<FastifyReply> {
    if (!fields) return refusePost(reply);
    const visited = await visitLink(readFormLink(fields), kind, readRedeemOrder);
    return visited?.kind === 'open' ? step(fields, visited) : refuse(reply, visited);
  }

  const benefitOf = ({ orderNo }: SignedLink, one: BenefitPosition) => ({ orderNo, ...one });

  function claimByItself(
    request: FastifyRequest,
    { channel, link }: Visit,
    one: BenefitPosition,
  ): Promise<ClaimOutcome> {
    const asking = { origin: { requestId: request.id }, caller: callers.get(request) };
    return deps.claim(shares.databaseFor(channel.channelId), channel, benefitOf(link, one), asking);
  }

  async function claimOne(request: FastifyRequest, visited: Visit, one: BenefitPosition): Promise<ClaimOutcome> {
    const { channel, link } = visited;
    const benefit = benefitOf(link, one);
    if (await deps.claimTogether(channel, link.channelUserId, benefit, callers.get(request))) return 'CLAIMED';
    return claimByItself(request, visited, one);
  }

  /**
   * Makes the claim in a statement that several requests share, and redirects. Nearly all claims succeed this way.
   * Otherwise returns `counted` if the post already counts against the link's limit, else `post`. The caller then
   * claims step by step, which finds the reason for a refusal.
   */
  async function claimAtOnce(
    request: FastifyRequest,
    reply: FastifyReply,
    fields: FormFields | undefined,
  ): Promise<FastifyReply | 'post' | 'counted'> {
    const link = fields && readFormLink(fields);
    const channel = link && findChannelOf(link);
    const { benefit, token } = readBenefitToken(fields?.get('claim'));
    if (!channel || !benefit || !isToken(token, { channel, link }, claimAction(benefit))) return 'post';
    limits.checkLink(link.sig, 'post');
    const caller = callers.get(request);
    if (!(await deps.claimTogether(channel, link.channelUserId, benefitOf(link, benefit), caller))) return 'counted';
    return redirect(reply, doneAddress(frameOf(request), link, readBenefit(fields?.get('from')), benefitText(benefit)));
  }

  /**
   * Returns the URL to continue at after an error: the same page, or after a post the page with the form. Undefined if
   * the post has no link.
   */
  function findWayOn(request: FastifyRequest): string | undefined {
    if (request.method === 'GET') return '';
    const fields: FormFields = readForm(request) ?? new Map();
    const link = readFormLink(fields);
    return link && placeAddress(frameOf(request), link, readBenefit(fields.get('from')));
  }

  /** Adds the forms that send a message to the user's login mobile. */
  function addMessages(pages: FastifyInstance, send: MessageSender): void {
    pages.post('/redeem/send-code', { bodyLimit: MAX_FORM_BYTES }, (request, reply) =>
      withPost(reply, readPost(request), async (fields, visited) => {
        if (!isToken(fields.get('token'), visited, SEND_CODE_ACTION)) return refusePost(reply);
        const { channel, link } = visited;
        const asking = { address: addressGroup(request.ip), now: clock.now() };
        const made = await createCode(shares.databaseFor(channel.channelId), channel, link.orderNo, asking);
        if (typeof made === 'string') return sendUnsubscribePage(reply, link, 'code', { kind: made });
        const frame = frameOf(request);
        const { language, messages } = frame.texts;
        const { code, mobile } = made;
        const text = messages.code(sellerOf(channel).name, code);
        const isSent = await send({ kind: 'CONFIRMATION_CODE', appId: channel.appId, mobile, language, text, code });
        if (!isSent) return sendUnsubscribePage(reply, link, 'code', { kind: 'not-sent' });
        return redirect(reply, pageAddress(frame, link, '/unsubscribe', { by: 'code' }));
      }),
    );

    pages.post('/redeem/send-link', { bodyLimit: MAX_FORM_BYTES }, async (request, reply) => {
      const fields = readPost(request);
      if (!fields) return refusePost(reply);
      const visited = await visitLink(readFormLink(fields), 'post', readRedeemOrder);
      if (!visited) return refuse(reply);
      if (!isToken(fields.get('token'), visited, SEND_LINK_ACTION)) return refusePost(reply);
      const { channel, link } = visited;
      const { channelUserId, orderNo } = link;
      const answer = (result: SentLink) => {
        const frame = frameOf(request);
        const page = renderSentPage(frame, visited, result);
        return sendPage(reply, { status: SENT_STATUS[result], texts: frame.texts, page, channel }, halfCloseMs);
      };
      const asking = { address: addressGroup(request.ip), now: clock.now() };
      const to = await shares
        .databaseFor(channel.channelId)
        .transaction((tx) => reserveMessage(tx, channel, channelUserId, asking));
      if (typeof to === 'string') return answer(to);
      const { language, messages } = frameOf(request).texts;
      const url = links.sign(channel, String(orderNo), links.newTerms(channelUserId));
      const text = messages.link(sellerOf(channel).name, url);
      const isSent = await send({ kind: 'REDEEM_LINK', appId: channel.appId, mobile: to.mobile, language, text, url });
      return answer(isSent ? 'sent' : 'not-sent');
    });
  }

  void app.register(async (pages) => {
    pages.addHook('onRequest', (request, _reply, done) => {
      if (isDraining()) throw new NodeDraining();
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
        sendMessage(reply, result.http, (texts) => ({ drawing, message: which(texts), again }), headers);
      if (result.http === 429) return say('busy', (texts) => texts.tooOften(seconds));
      if (result.http === 503) return say('away', (texts) => texts.away);
      if (result.http === 500) return say('fault', (texts) => texts.fault(request.id));
      return refusePost(reply, 400);
    });

    pages.get('/redeem', (request, reply) => {
      const { link, done } = asked(request);
      return sendRedeemPage(reply, link, readDone(done));
    });
    for (const list of LISTS) {
      pages.get(`/redeem${LIST_PATHS[list]}`, (request, reply) => sendList(reply, list, asked(request)));
    }
    pages.get('/redeem/payments', (_request, reply) => sendPayments(reply));
    pages.get('/redeem/unsubscribe', (request, reply) => {
      const { link, by } = asked(request);
      return sendUnsubscribePage(reply, link, canSend && by === 'code' ? 'code' : 'digits');
    });
    pages.get('/redeem/ended', (_request, reply) => sendEndedPage(reply));
    pages.get<{ Params: { '*': string } }>(OTHER_PATHS, async (request, reply) => {
      const asset = ASSETS.find(({ name }) => name === request.params['*']);
      return asset ? sendAsset(reply, asset) : refuse(reply);
    });

    pages.post('/redeem/claim', { bodyLimit: MAX_FORM_BYTES }, async (request, reply) => {
      const post = readPost(request);
      const answered = await claimAtOnce(request, reply, post);
      if (typeof answered !== 'string') return answered;
      const claim = async (fields: FormFields, visited: Visit) => {
        const { benefit, token } = readBenefitToken(fields.get('claim'));
        if (!benefit || !isToken(token, visited, claimAction(benefit))) return refusePost(reply);
        const frame = frameOf(request);
        const notice = claimNotice(frame.texts, await claimByItself(request, visited, benefit));
        const from = fields.get('from');
        if (notice !== undefined) return sendPlace(reply, visited.link, from, notice);
        return redirect(reply, doneAddress(frame, visited.link, readBenefit(from), benefitText(benefit)));
      };
      return withPost(reply, post, claim, answered);
    });

    pages.post('/redeem/claim-all', { bodyLimit: MAX_FORM_BYTES }, (request, reply) =>
      withPost(reply, readPost(request), async (fields, visited) => {
        const [, period = '', token] = /^([1-9]\d{0,3}|all)-(.*)$/.exec(fields.get('period') ?? '') ?? [];
        const isEverything = period === 'all';
        const cycleNo = Number(period);
        const action = isEverything ? CLAIM_EVERYTHING_ACTION : claimAllAction(cycleNo);
        if (!isToken(token, visited, action)) return refusePost(reply);
        const { channel, link } = visited;
        const { channelId } = channel;
        const db = shares.databaseFor(channelId);
        const those = await (isEverything
          ? listClaimable(db, channelId, link.orderNo, clock.now())
          : listClaimableOfPeriod(db, channelId, link.orderNo, cycleNo, clock.now()));
        await claimEach(those, (one) => claimOne(request, visited, one));
        const place = isEverything ? undefined : readBenefit(fields.get('from'));
        return redirect(reply, doneAddress(frameOf(request), link, place, period));
      }),
    );

    pages.post('/redeem/unsubscribe', { bodyLimit: MAX_FORM_BYTES }, (request, reply) =>
      withPost(reply, readPost(request), async (fields, visited) => {
        if (!isToken(fields.get('token'), visited, UNSUBSCRIBE_ACTION)) return refusePost(reply);
        const { channel, link } = visited;
        const db = shares.databaseFor(channel.channelId);
        const typedCode = fields.get('code');
        if (typedCode !== undefined && canSend) {
          const code = parseTypedCode(typedCode);
          const tried: UnsubscribeTry =
            code === undefined ? { kind: 'not-code' } : await deps.unsubscribe(db, channel, link.orderNo, { code });
          return sendUnsubscribePage(reply, link, 'code', tried);
        }
        const digits = parseTypedDigits(fields.get('digits') ?? '');
        const address = addressGroup(request.ip);
        const tried: UnsubscribeTry =
          digits === undefined
            ? { kind: 'not-digits' }
            : await deps.unsubscribe(db, channel, link.orderNo, { digits, address });
        return sendUnsubscribePage(reply, link, 'digits', tried);
      }),
    );

    if (deps.sendMessage) addMessages(pages, deps.sendMessage);
  });
}

const LISTS: readonly BenefitList[] = ['TO_CLAIM', 'CLAIMED', 'PAST'];
const MAX_CYCLE_NO = 9_999;
const TRIED_STATUS = {
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
const SENT_STATUS = { sent: 200, 'too-often': 429, 'not-sent': 503, 'no-mobile': 409 };

interface AskedAddress {
  readonly link: SignedLink | undefined;
  /** The entry with which the page's list begins. */
  readonly from: string | undefined;
  readonly done: string | undefined;
  /** How the user confirms an unsubscribe. */
  readonly by: string | undefined;
}

function asked({ raw }: FastifyRequest): AskedAddress {
  const fields = readFormFields((raw.url ?? '').replace(/^[^?]*\??/, ''));
  return { link: readLink(fields), from: fields.get('from'), done: fields.get('done'), by: fields.get('by') };
}

/** Returns the language that the user has chosen on the page. */
function readLanguage(url: string): 'zh' | 'en' | undefined {
  const [, lang] = /[?&]lang=(zh|en)(?:&|$)/.exec(url) ?? [];
  return lang === 'zh' || lang === 'en' ? lang : undefined;
}

/** Returns the URL of the page in another language. After a post, this is the page with the form. */
function addressInLanguage(request: FastifyRequest, root: string, lang: 'zh' | 'en'): string {
  if (request.method === 'POST') {
    const link = readFormLink(readForm(request) ?? new Map());
    const isEnding = /\/(?:unsubscribe|send-code)$/.test(request.routeOptions.url ?? '');
    return link ? pageAddress({ root, lang }, link, isEnding ? '/unsubscribe' : '') : `${root}/redeem?lang=${lang}`;
  }
  const [path = '', query = ''] = (request.raw.url ?? '').split(/\?(.*)/s);
  const others = query.split('&').filter((pair) => pair !== '' && !pair.startsWith('lang='));
  return `${root}${path}?${[...others, `lang=${lang}`].join('&')}`;
}

/** Parses `3-1`, the first benefit of the third period. */
function readBenefit(text: string | undefined): BenefitPosition | undefined {
  const [, cycleNo, position] = /^(\d{1,4})-(\d{1,2})$/.exec(text ?? '') ?? [];
  return cycleNo === undefined ? undefined : { cycleNo: Number(cycleNo), position: Number(position) };
}

/** Parses a benefit, followed by a dash and a token. */
function readBenefitToken(text = ''): { benefit: BenefitPosition | undefined; token: string | undefined } {
  const [, benefit, token] = /^(\d+-\d+)-(.*)$/.exec(text) ?? [];
  return { benefit: readBenefit(benefit), token };
}

function readDone(text: string | undefined): JustClaimed | undefined {
  if (text === 'all') return EVERYTHING;
  if (/^[1-9]\d{0,3}$/.test(text ?? '')) return { cycleNo: Number(text), position: undefined };
  return readBenefit(text);
}

function isToken(given: string | undefined, visit: Pick<Visit, 'channel' | 'link'>, action: string): boolean {
  const { channel, link } = visit;
  return given !== undefined && isValidFormToken(given, channel.callbackSecret, link, action);
}

/** Returns the text about an outcome. Undefined if the page itself shows the code, or says that the code will come. */
function claimNotice(texts: Texts, outcome: ClaimOutcome): string | undefined {
  const notices: Partial<Record<ClaimOutcome, string>> = {
    EXPIRED: texts.claimExpired,
    REVOKED: texts.claimRevoked,
    UNKNOWN: texts.claimUnknown,
  };
  return notices[outcome];
}
