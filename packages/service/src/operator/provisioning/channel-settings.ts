import { encryptionVersions, eventTypes } from '@perennial/wire/enums';
import {
  type CallbackEventType,
  type ChannelView,
  deleteCallbackUrl,
  findCallbackUrl,
  storeCallbackUrl,
  storeEncryption,
  storeFrameOrigins,
  storeIpAllowList,
  storeRateLimits,
  storeUpcomingNoticeDays,
  storeVoidedPeriodEvents,
} from '../../catalog/channels/channel-provisioning-sql.js';
import { requestAlignment } from '../../subscriptions/store/orders/notice-alignments-sql.js';
import { type Changed, type Operator, refusal } from '../operator.js';
import { requireInteger, requireOneOf } from '../rules.js';
import { checkCallbackUrl } from './addresses/callback-url.js';
import { requireFrameOrigins } from './addresses/frame-origins.js';
import { requireIpRanges } from './addresses/ip-ranges.js';
import { changeChannel } from './channel-change.js';

export const CALLBACK_EVENT_TYPES: readonly CallbackEventType[] = ['*', ...eventTypes];

export interface SetCallbackInput {
  readonly appId: string;
  /** Unset: `*`, for the types without an address of their own. */
  readonly eventType?: string;
  /** Unset: the address is removed. */
  readonly url?: string;
}

export async function setCallback(operator: Operator, input: SetCallbackInput): Promise<Changed<ChannelView>> {
  const eventType = requireOneOf('an event type', input.eventType ?? '*', CALLBACK_EVENT_TYPES);
  const url = input.url === undefined ? undefined : requireCallbackUrl(operator, input.url);
  return changeChannel(operator, input.appId, 'channel.set-callback', async (tx, { channelId }) => {
    const former = await findCallbackUrl(tx, channelId, eventType);
    if (former === url) return undefined;
    if (url === undefined) await deleteCallbackUrl(tx, channelId, eventType);
    else await storeCallbackUrl(tx, channelId, eventType, url);
    return { eventType, from: former ?? null, to: url ?? null };
  });
}

function requireCallbackUrl({ environment, localCallbacks }: Operator, text: string): string {
  const checked = checkCallbackUrl(text, { local: environment === 'sandbox' && localCallbacks === true });
  if ('url' in checked) return checked.url;
  throw refusal('callback-refused')`the callback address is refused: ${checked.refusal}`;
}

export interface SetIpAllowListInput {
  readonly appId: string;
  /** Addresses and CIDR ranges. Empty: every address may call. */
  readonly ranges: readonly string[];
}

export async function setIpAllowList(operator: Operator, input: SetIpAllowListInput): Promise<Changed<ChannelView>> {
  const ranges = requireIpRanges(input.ranges);
  return changeChannel(operator, input.appId, 'channel.set-ip-list', async (tx, channel) => {
    const stored = await storeIpAllowList(tx, channel.channelId, ranges);
    return stored && { from: channel.ipAllowList, to: stored };
  });
}

export interface LimitsInput {
  readonly ratePerSecond: number;
  /** Unset: twice the rate. */
  readonly rateBurst?: number;
}

export async function setLimits(
  operator: Operator,
  input: LimitsInput & { readonly appId: string },
): Promise<Changed<ChannelView>> {
  const to = requireLimits(input);
  return changeChannel(operator, input.appId, 'channel.set-limits', async (tx, channel) => {
    const from = { ratePerSecond: channel.ratePerSecond, rateBurst: channel.rateBurst };
    if (from.ratePerSecond === to.ratePerSecond && from.rateBurst === to.rateBurst) return undefined;
    await storeRateLimits(tx, channel.channelId, to.ratePerSecond, to.rateBurst);
    return { from, to };
  });
}

export function requireLimits(input: LimitsInput): Required<LimitsInput> {
  const ratePerSecond = requireInteger('requests per second', input.ratePerSecond, 1, 1_000_000);
  const rateBurst = requireInteger('the burst', input.rateBurst ?? 2 * ratePerSecond, 1, 10_000_000);
  if (rateBurst < ratePerSecond) {
    throw refusal(
      'burst-below-rate',
    )`the burst (${rateBurst}) must not be below the requests per second (${ratePerSecond})`;
  }
  return { ratePerSecond, rateBurst };
}

export interface SetVoidedPeriodEventsInput {
  readonly appId: string;
  /** Whether an unsubscribe also sends one CANCELED event for each period it voids. */
  readonly send: boolean;
}

export async function setVoidedPeriodEvents(
  operator: Operator,
  { appId, send }: SetVoidedPeriodEventsInput,
): Promise<Changed<ChannelView>> {
  return changeChannel(operator, appId, 'channel.set-voided-period-events', async (tx, channel) => {
    if (channel.voidedPeriodEvents === send) return undefined;
    await storeVoidedPeriodEvents(tx, channel.channelId, send);
    return { from: channel.voidedPeriodEvents, to: send };
  });
}

export interface SetUpcomingNoticesInput {
  readonly appId: string;
  /** So many days before each renewal, 1 to 30. Null: not at all. */
  readonly days: number | null;
}

export const MAX_NOTICE_DAYS = 30;

/** Orders that exist are brought in line by a job. */
export async function setUpcomingNotices(
  operator: Operator,
  { appId, days: asked }: SetUpcomingNoticesInput,
): Promise<Changed<ChannelView>> {
  const days = asked === null ? null : requireInteger('the days of notice', asked, 1, MAX_NOTICE_DAYS);
  return changeChannel(operator, appId, 'channel.set-upcoming-notices', async (tx, channel) => {
    if (channel.upcomingNoticeDays === days) return undefined;
    await storeUpcomingNoticeDays(tx, channel.channelId, days);
    await requestAlignment(tx, channel.channelId);
    return { from: channel.upcomingNoticeDays, to: days };
  });
}

export interface SetFrameOriginsInput {
  readonly appId: string;
  /** Empty: nobody may. */
  readonly origins: readonly string[];
}

/** Whose pages may hold the redemption page in a frame. */
export async function setFrameOrigins(operator: Operator, input: SetFrameOriginsInput): Promise<Changed<ChannelView>> {
  const origins = requireFrameOrigins(input.origins, operator.environment);
  return changeChannel(operator, input.appId, 'channel.set-frame-origins', async (tx, channel) => {
    if (channel.frameOrigins.join() === origins.join()) return undefined;
    await storeFrameOrigins(tx, channel.channelId, origins);
    return { from: channel.frameOrigins, to: origins };
  });
}

export interface SetEncryptionInput {
  readonly appId: string;
  /** Of events, and of answers to requests without encrypted fields. Unset: as it was. */
  readonly answers?: string;
  /** Whether the channel may send svc_aes_v1. Unset: as it was. */
  readonly acceptsV1?: boolean;
}

export async function setEncryption(operator: Operator, input: SetEncryptionInput): Promise<Changed<ChannelView>> {
  const answers =
    input.answers === undefined ? undefined : requireOneOf('the form of answers', input.answers, encryptionVersions);
  if (answers === undefined && input.acceptsV1 === undefined)
    throw refusal('nothing-to-change')`nothing to change is given`;
  return changeChannel(operator, input.appId, 'channel.set-encryption', async (tx, channel) => {
    const from = { answers: channel.answerEncryption, acceptsV1: channel.acceptsV1 };
    const to = { answers: answers ?? from.answers, acceptsV1: input.acceptsV1 ?? from.acceptsV1 };
    if (from.answers === to.answers && from.acceptsV1 === to.acceptsV1) return undefined;
    await storeEncryption(tx, channel.channelId, to.answers, to.acceptsV1);
    return { from, to };
  });
}
