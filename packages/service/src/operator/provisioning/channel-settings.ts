import { MAX_NOTICE_DAYS } from '@perennial/wire';
import { encryptionVersions, eventTypes } from '@perennial/wire/enums';
import {
  type CallbackEventType,
  type ChannelView,
  deleteCallbackUrl,
  findCallbackUrl,
  storeCallbackUrl,
  storeChannelName,
  storeEncryption,
  storeFrameOrigins,
  storeIpAllowList,
  storeRateLimits,
  storeUpcomingNoticeDays,
  storeVoidedPeriodEvents,
} from '../../catalog/channels/channel-provisioning-sql.js';
import { requestAlignment } from '../../subscriptions/store/orders/notice-alignments-sql.js';
import { type Changed, type Operator, refusal } from '../operator.js';
import { requireInteger, requireName, requireOneOf } from '../rules.js';
import { checkCallbackUrl } from './addresses/callback-url.js';
import { requireFrameOrigins } from './addresses/frame-origins.js';
import { requireIpRanges } from './addresses/ip-ranges.js';
import { changeChannel } from './channel-change.js';

export const CALLBACK_EVENT_TYPES: readonly CallbackEventType[] = ['*', ...eventTypes];

/** Sets an event type's callback URL, or removes it if none is given. `*`: all types without their own URL. */
export async function setCallback(
  operator: Operator,
  input: { readonly appId: string; readonly eventType?: string; readonly url?: string | null },
): Promise<Changed<ChannelView>> {
  const eventType = requireOneOf('an event type', input.eventType ?? '*', CALLBACK_EVENT_TYPES);
  const url = input.url == null ? undefined : requireCallbackUrl(operator, input.url);
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

/** Sets the addresses and CIDR ranges from which the channel may call. An empty list allows every address. */
export async function setIpAllowList(
  operator: Operator,
  input: { readonly appId: string; readonly ranges: readonly string[] },
): Promise<Changed<ChannelView>> {
  const ranges = requireIpRanges(input.ranges);
  return changeChannel(operator, input.appId, 'channel.set-ip-list', async (tx, channel) => {
    const stored = await storeIpAllowList(tx, channel.channelId, ranges);
    return stored && { from: channel.ipAllowList, to: stored };
  });
}

/** Changes the name that operators see. The app id stays. */
export async function renameChannel(
  operator: Operator,
  input: { readonly appId: string; readonly name: string },
): Promise<Changed<ChannelView>> {
  const name = requireName('the name', input.name);
  return changeChannel(operator, input.appId, 'channel.rename', async (tx, channel) => {
    if (channel.name === name) return undefined;
    await storeChannelName(tx, channel.channelId, name);
    return { from: channel.name, to: name };
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

/** Sets whether an unsubscribe also sends a CANCELED event for each voided period. */
export async function setVoidedPeriodEvents(
  operator: Operator,
  { appId, send }: { readonly appId: string; readonly send: boolean },
): Promise<Changed<ChannelView>> {
  return changeChannel(operator, appId, 'channel.set-voided-period-events', async (tx, channel) => {
    if (channel.voidedPeriodEvents === send) return undefined;
    await storeVoidedPeriodEvents(tx, channel.channelId, send);
    return { from: channel.voidedPeriodEvents, to: send };
  });
}

/** Sets how many days before a renewal its notice is sent. Null: no notices. A job applies this to existing orders. */
export async function setUpcomingNotices(
  operator: Operator,
  { appId, days: asked }: { readonly appId: string; readonly days: number | null },
): Promise<Changed<ChannelView>> {
  const days = asked === null ? null : requireInteger('the days of notice', asked, 1, MAX_NOTICE_DAYS);
  return changeChannel(operator, appId, 'channel.set-upcoming-notices', async (tx, channel) => {
    if (channel.upcomingNoticeDays === days) return undefined;
    await storeUpcomingNoticeDays(tx, channel.channelId, days);
    await requestAlignment(tx, channel.channelId);
    return { from: channel.upcomingNoticeDays, to: days };
  });
}

/** Sets the origins whose pages may embed the redemption page in a frame. An empty list allows no origin. */
export async function setFrameOrigins(
  operator: Operator,
  input: { readonly appId: string; readonly origins: readonly string[] },
): Promise<Changed<ChannelView>> {
  const origins = requireFrameOrigins(input.origins, operator.environment);
  return changeChannel(operator, input.appId, 'channel.set-frame-origins', async (tx, channel) => {
    if (channel.frameOrigins.join() === origins.join()) return undefined;
    await storeFrameOrigins(tx, channel.channelId, origins);
    return { from: channel.frameOrigins, to: origins };
  });
}

/**
 * Sets how fields are encrypted. Unset values stay unchanged. `answers` is the version used in events, and in answers
 * to requests without encrypted fields. `acceptsV1` allows requests in svc_aes_v1.
 */
export async function setEncryption(
  operator: Operator,
  input: { readonly appId: string; readonly answers?: string; readonly acceptsV1?: boolean },
): Promise<Changed<ChannelView>> {
  const answers =
    input.answers === undefined ? undefined : requireOneOf('the form of answers', input.answers, encryptionVersions);
  if (answers === undefined && input.acceptsV1 === undefined)
    throw refusal('nothing-to-change')`there is nothing to change; give at least one value`;
  return changeChannel(operator, input.appId, 'channel.set-encryption', async (tx, channel) => {
    const from = { answers: channel.answerEncryption, acceptsV1: channel.acceptsV1 };
    const to = { answers: answers ?? from.answers, acceptsV1: input.acceptsV1 ?? from.acceptsV1 };
    if (from.answers === to.answers && from.acceptsV1 === to.acceptsV1) return undefined;
    await storeEncryption(tx, channel.channelId, to.answers, to.acceptsV1);
    return { from, to };
  });
}
