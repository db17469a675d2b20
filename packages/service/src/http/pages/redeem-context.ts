import { trimSlashes } from '@perennial/wire';
import { createAmountFormat } from '@perennial/wire/currency';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Channel } from '../../catalog/channels/channel.js';
import type { ChannelRegistry } from '../../catalog/channels/channel-registry.js';
import type { Clock } from '../../platform/clock.js';
import type { Queryable } from '../../platform/db/database.js';
import type { Caller } from '../../platform/db/sharing/caller.js';
import type { ConnectionShares } from '../../platform/db/sharing/connection-shares.js';
import type { CodesShown } from '../../redeem/codes-shown.js';
import { isValidFormToken } from '../../redeem/form-token.js';
import { type FormFields, readFormLink, type SignedLink } from '../../redeem/link.js';
import type { Way } from '../../redeem/page/addresses.js';
import type { Frame } from '../../redeem/page/layout.js';
import {
  type MessagePage,
  renderExpiredPage,
  renderMessagePage,
  renderRefusedPage,
} from '../../redeem/page/message-page.js';
import { type RedeemOrder, readRedeemOrder } from '../../redeem/store/order-sql.js';
import type { Texts } from '../../redeem/texts/en.js';
import { chooseTexts } from '../../redeem/texts/language.js';
import type { Unsubscriber } from '../../redeem/unsubscribe.js';
import type { MessageSender } from '../../redeem/user-messages.js';
import { createVisitor, type LateVisit, type Visit } from '../../redeem/visit.js';
import type { Claimer } from '../../subscriptions/steps/benefits/claim-benefit.js';
import type { SharedClaimer } from '../../subscriptions/steps/benefits/claim-together.js';
import type { RedeemLimits } from '../limits/redeem-limits.js';
import { type PageAnswer, sendPage } from './redeem-answer.js';
import { addressInLanguage, readLanguage } from './redeem-asked.js';
import { isCrossSite, readForm } from './redeem-form.js';

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

export type RedeemContext = ReturnType<typeof createRedeemContext>;

/** Creates what all pages and forms share: the language of an answer, the check of a link, and the refusals. */
export function createRedeemContext(deps: RedeemDeps, halfCloseMs: number) {
  const { shares, limits } = deps;
  const visit = createVisitor(deps);
  const callers = new WeakMap<FastifyRequest, Caller>();

  let known = { of: '', origin: '', path: '' };
  /** Returns the origin and path at which users reach this service. */
  function findPlace() {
    const of = deps.redeemUrl();
    if (of !== known.of) {
      const { origin, pathname } = new URL(of);
      known = { of, origin, path: trimSlashes(pathname) };
    }
    return known;
  }
  const money = {
    en: createAmountFormat(deps.currency, 'en-GB'),
    zh: createAmountFormat(deps.currency, 'zh-CN'),
  };
  const canSend = deps.sendMessage !== undefined;
  const wayOf = (request: FastifyRequest): Way => ({ root: findPlace().path, lang: readLanguage(request) });
  function frameOf(request: FastifyRequest): Frame {
    const way = wayOf(request);
    const texts = chooseTexts(way.lang ?? request.headers['accept-language']);
    const switchAddress = () => addressInLanguage(request, way.root, texts.other.language);
    return { ...way, texts, money: money[texts.language], switchAddress, canSend };
  }

  function send(
    reply: FastifyReply,
    { texts }: Frame,
    page: string,
    { status = 200, ...more }: Partial<Pick<PageAnswer, 'status' | 'channel' | 'headers' | 'styleSource'>> = {},
  ): FastifyReply {
    return sendPage(reply, { status, texts, page, ...more }, halfCloseMs);
  }

  function sendMessagePage(
    reply: FastifyReply,
    status: number,
    which: (texts: Texts) => MessagePage,
    headers = {},
  ): FastifyReply {
    const frame = frameOf(reply.request);
    return send(reply, frame, renderMessagePage(frame, which(frame.texts)), { status, headers });
  }

  /**
   * Refuses a link. An expired link was genuine, so its page names the seller. All other refused links get an identical
   * page.
   */
  function refuse(reply: FastifyReply, late?: LateVisit): FastifyReply {
    const frame = frameOf(reply.request);
    if (late) return send(reply, frame, renderExpiredPage(frame, late), { status: 410, channel: late.channel });
    // The URL of the refused link is not on the page, so that all refused links get the same bytes.
    const switchAddress = () => `${frame.root}/redeem?lang=${frame.texts.other.language}`;
    return send(reply, frame, renderRefusedPage({ ...frame, switchAddress }), { status: 404 });
  }

  const refusePost = (reply: FastifyReply, status = 403) =>
    sendMessagePage(reply, status, (texts) => ({ drawing: 'foreign', message: texts.crossSite }));

  const databaseOf = ({ channelId }: Channel) => shares.databaseFor(channelId);

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
    read: (db: Queryable, channelId: number, orderNo: number, lang: string) => Promise<Read | undefined>,
    render: (frame: Frame, visited: Visit<Read>) => string | FastifyReply,
    status = 200,
  ): Promise<FastifyReply> {
    const frame = frameOf(reply.request);
    const visited = await visitLink(link, 'open', (...whose) => read(...whose, frame.texts.language));
    if (visited?.kind !== 'open') return refuse(reply, visited);
    const page = render(frame, visited);
    return typeof page === 'string' ? send(reply, frame, page, { status, channel: visited.channel }) : page;
  }

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

  return {
    deps,
    /** The callers of the requests in progress. */
    callers,
    canSend,
    databaseOf,
    frameOf,
    open,
    readPost,
    refuse,
    refusePost,
    send,
    sendMessagePage,
    visitLink,
    wayOf,
    withPost,
  };
}

/** Returns true if a form has the token for its action and its link. */
export function isToken(
  given: string | undefined,
  { channel, link }: Pick<Visit, 'channel' | 'link'>,
  action: string,
): boolean {
  return given !== undefined && isValidFormToken(given, channel.callbackSecret, link, action);
}
