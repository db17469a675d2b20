import type { EncryptionVersion, EventType } from '@perennial/wire/enums';
import { column, columns, type Queryable, queryOne, type RowOf, statement } from '../../platform/db/database.js';
import { shanghaiText } from '../../platform/db/time-sql.js';
import { type ImageView, imageView } from '../image-file-sql.js';
import type { Branding } from './branding.js';
import { type ChannelRow, findChannel } from './channels-sql.js';
import type { SealedCredentials } from './credentials.js';

/** What users see of a channel, as operators see it. */
export interface BrandingView extends Omit<Branding, 'logo'> {
  readonly logo: ImageView | null;
}

/** A channel as operators see it, without its secrets. */
export type ChannelView = RowOf<typeof DESCRIBE_CHANNELS>;

/** `*` is the address for the event types without one of their own. */
export type CallbackEventType = EventType | '*';

const DESCRIBE_CHANNELS = statement({
  text: `select c.channel_id::text as "channelId", c.app_id as "appId", c.name, c.status,
       c.rate_per_second as "ratePerSecond", c.rate_burst as "rateBurst", c.ip_allow_list::text[] as "ipAllowList",
       c.voided_period_events as "voidedPeriodEvents", c.upcoming_notice_days as "upcomingNoticeDays", c.frame_origins as "frameOrigins",
       c.answer_encryption as "answerEncryption", c.accepts_v1 as "acceptsV1",
       (select coalesce(json_agg(json_build_object('eventType', u.event_type, 'url', u.url) order by u.event_type), '[]')
        from callback_urls u where u.channel_id = c.channel_id) as "callbackUrls",
       array(select d.event_type from delivery_pauses d where d.channel_id = c.channel_id
             order by d.event_type) as "pausedEvents",
       array(select cp.product_code from channel_products cp where cp.channel_id = c.channel_id
             order by cp.product_code) as products,
       (select coalesce(json_agg(json_build_object('code', p.code, 'isDefault', p.is_default,
          'shareEnabled', p.share_enabled) order by p.code), '[]')
        from channel_payment_channels p where p.channel_id = c.channel_id) as "paymentChannels",
       (select json_build_object('displayName', b.display_name, 'logo', ${imageView('i')}, 'accent', b.accent,
          'support', b.support, 'termsUrl', b.terms_url, 'shopUrl', b.shop_url)
        from (select) as one left join channel_brandings b on b.channel_id = c.channel_id
          left join images i on i.image_hash = b.logo_hash) as branding,
       case when c.former_secret_until > now() then ${shanghaiText('c.former_secret_until')} end as "formerSecretUntil",
       ${shanghaiText('c.created_at')} as "createdAt"
     from channels c where $1::text is null or c.app_id = $1 order by c.app_id`,
  parameters: ['text'],
  columns: columns({
    channelId: 'text',
    appId: 'text',
    name: 'text',
    status: column<ChannelRow['status']>('text'),
    ratePerSecond: 'integer',
    rateBurst: 'integer',
    ipAllowList: 'text[]',
    voidedPeriodEvents: 'boolean',
    /** So many days before a period the channel is told of it. Null: it is not. */
    upcomingNoticeDays: 'integer?',
    /** Origins whose pages may show the redemption page in a frame. */
    frameOrigins: 'text[]',
    /** The version of encrypted fields in events, and in answers to requests without encrypted fields. */
    answerEncryption: column<EncryptionVersion>('text'),
    acceptsV1: 'boolean',
    callbackUrls: column<readonly { readonly eventType: CallbackEventType; readonly url: string }[]>('json'),
    /** Event types that an operator holds back; `*` is all of them. */
    pausedEvents: column<readonly CallbackEventType[]>('text[]'),
    products: 'text[]',
    paymentChannels:
      column<readonly { readonly code: string; readonly isDefault: boolean; readonly shareEnabled: boolean }[]>('json'),
    branding: column<BrandingView>('json'),
    /** Until when the app secret before the latest roll is taken too. Null when it is not. */
    formerSecretUntil: 'text?',
    createdAt: 'text',
  }),
});

/** All channels by app id, or the one that is named. */
export async function describeChannels(db: Queryable, appId?: string): Promise<ChannelView[]> {
  return db.query(DESCRIBE_CHANNELS, [appId ?? null]);
}

const LOCK_CHANNEL = statement({
  text: 'select 1 from channels where app_id = $1 for no key update',
  parameters: ['text'],
});

/**
 * Locks the row against changes until the transaction ends. `no key update`, so that rows which refer to the channel can be
 * inserted meanwhile.
 */
export async function lockChannel(tx: Queryable, appId: string): Promise<ChannelRow | undefined> {
  const locked = await tx.query(LOCK_CHANNEL, [appId]);
  return locked.length === 0 ? undefined : findChannel(tx, appId);
}

export interface NewChannel {
  readonly appId: string;
  readonly name: string;
  readonly ratePerSecond: number;
  readonly rateBurst: number;
  readonly sealed: SealedCredentials;
}

const INSERT_CHANNEL = statement({
  text: `with made as (
       insert into channels (app_id, name, rate_per_second, rate_burst, data_key, app_secret, aes_key, callback_secret)
       values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (app_id) do nothing returning channel_id, rate_burst)
     insert into rate_limits (channel_id, tokens) select channel_id, rate_burst from made returning channel_id`,
  parameters: ['text', 'text', 'integer', 'integer', 'text', 'text', 'text', 'text'],
});

/** Inserts a channel with a full bucket of requests. False when the app id is taken. */
export async function insertChannel(tx: Queryable, channel: NewChannel): Promise<boolean> {
  const { appId, name, ratePerSecond, rateBurst, sealed } = channel;
  const made = await tx.query(INSERT_CHANNEL, [
    appId,
    name,
    ratePerSecond,
    rateBurst,
    sealed.dataKey,
    sealed.appSecret,
    sealed.aesKey,
    sealed.callbackSecret,
  ]);
  return made.length > 0;
}

const RAISE_CHANNEL_VERSION = statement({
  text: 'update channels set version = version + 1 where channel_id = $1',
  parameters: ['bigint'],
});

/** Makes every node read the channel again before its next request. */
export async function raiseChannelVersion(tx: Queryable, channelId: number): Promise<void> {
  await tx.query(RAISE_CHANNEL_VERSION, [channelId]);
}

const STORE_CHANNEL_STATUS = statement({
  text: 'update channels set status = $2 where channel_id = $1',
  parameters: ['bigint', 'text'],
});

export async function storeChannelStatus(
  tx: Queryable,
  channelId: number,
  status: ChannelRow['status'],
): Promise<void> {
  await tx.query(STORE_CHANNEL_STATUS, [channelId, status]);
}

const STORE_CREDENTIALS = statement({
  text: `update channels set data_key = $2, app_secret = $3, aes_key = $4, callback_secret = $5 where channel_id = $1`,
  parameters: ['bigint', 'text', 'text', 'text', 'text'],
});

export async function storeCredentials(tx: Queryable, channelId: number, sealed: SealedCredentials): Promise<void> {
  await tx.query(STORE_CREDENTIALS, [
    channelId,
    sealed.dataKey,
    sealed.appSecret,
    sealed.aesKey,
    sealed.callbackSecret,
  ]);
}

const KEEP_FORMER_APP_SECRET = statement({
  text: `update channels set former_app_secret = app_secret, former_secret_until = now() + $2::integer * interval '1 hour'
     where channel_id = $1`,
  parameters: ['bigint', 'integer'],
});

/** To be called before a new app secret is stored: the present one is taken for so many hours more. */
export async function keepFormerAppSecret(tx: Queryable, channelId: number, hours: number): Promise<void> {
  await tx.query(KEEP_FORMER_APP_SECRET, [channelId, hours]);
}

const KEEP_ENDED_APP_SECRET = statement({
  text: `update channels set former_app_secret = app_secret, former_secret_until = to_timestamp(0) where channel_id = $1`,
  parameters: ['bigint'],
});

/**
 * To be called before a new app secret is stored, in the sandbox: the present one is known from then on, and taken by nobody. Its
 * end is long past, so that it is over by any clock.
 */
export async function keepEndedAppSecret(tx: Queryable, channelId: number): Promise<void> {
  await tx.query(KEEP_ENDED_APP_SECRET, [channelId]);
}

const FORGET_FORMER_APP_SECRET = statement({
  text: 'update channels set former_app_secret = null, former_secret_until = null where channel_id = $1',
  parameters: ['bigint'],
});

export async function forgetFormerAppSecret(tx: Queryable, channelId: number): Promise<void> {
  await tx.query(FORGET_FORMER_APP_SECRET, [channelId]);
}

const END_ACCESS_TOKENS = statement({
  text: 'update channels set token_epoch = token_epoch + 1 where channel_id = $1',
  parameters: ['bigint'],
});

export async function endAccessTokens(tx: Queryable, channelId: number): Promise<void> {
  await tx.query(END_ACCESS_TOKENS, [channelId]);
}

const STORE_IP_ALLOW_LIST = statement({
  text: `update channels set ip_allow_list = $2::cidr[] where channel_id = $1 and ip_allow_list <> $2::cidr[]
     returning ip_allow_list::text[] as ranges`,
  parameters: ['bigint', 'cidr[]'],
  columns: columns({ ranges: 'text[]' }),
});

/** The list as it is stored. Undefined when it has not changed. */
export async function storeIpAllowList(
  tx: Queryable,
  channelId: number,
  ranges: readonly string[],
): Promise<readonly string[] | undefined> {
  return (await queryOne(tx, STORE_IP_ALLOW_LIST, [channelId, ranges]))?.ranges;
}

const STORE_RATE_LIMITS = statement({
  text: 'update channels set rate_per_second = $2, rate_burst = $3 where channel_id = $1',
  parameters: ['bigint', 'integer', 'integer'],
});

const CUT_SAVED_REQUESTS = statement({
  text: 'update rate_limits set tokens = least(tokens, $2) where channel_id = $1',
  parameters: ['bigint', 'double precision'],
});

/** Also cuts requests that were saved up under the old limit. */
export async function storeRateLimits(tx: Queryable, channelId: number, rate: number, burst: number): Promise<void> {
  await tx.query(STORE_RATE_LIMITS, [channelId, rate, burst]);
  await tx.query(CUT_SAVED_REQUESTS, [channelId, burst]);
}

const STORE_VOIDED_PERIOD_EVENTS = statement({
  text: 'update channels set voided_period_events = $2 where channel_id = $1',
  parameters: ['bigint', 'boolean'],
});

export async function storeVoidedPeriodEvents(tx: Queryable, channelId: number, send: boolean): Promise<void> {
  await tx.query(STORE_VOIDED_PERIOD_EVENTS, [channelId, send]);
}

const STORE_UPCOMING_NOTICE_DAYS = statement({
  text: 'update channels set upcoming_notice_days = $2 where channel_id = $1',
  parameters: ['bigint', 'integer'],
});

export async function storeUpcomingNoticeDays(tx: Queryable, channelId: number, days: number | null): Promise<void> {
  await tx.query(STORE_UPCOMING_NOTICE_DAYS, [channelId, days]);
}

const STORE_FRAME_ORIGINS = statement({
  text: 'update channels set frame_origins = $2 where channel_id = $1',
  parameters: ['bigint', 'text[]'],
});

export async function storeFrameOrigins(tx: Queryable, channelId: number, origins: readonly string[]): Promise<void> {
  await tx.query(STORE_FRAME_ORIGINS, [channelId, origins]);
}

const STORE_ENCRYPTION = statement({
  text: 'update channels set answer_encryption = $2, accepts_v1 = $3 where channel_id = $1',
  parameters: ['bigint', 'text', 'boolean'],
});

export async function storeEncryption(
  tx: Queryable,
  channelId: number,
  answers: EncryptionVersion,
  acceptsV1: boolean,
): Promise<void> {
  await tx.query(STORE_ENCRYPTION, [channelId, answers, acceptsV1]);
}

const FIND_CALLBACK_URL = statement({
  text: 'select url from callback_urls where channel_id = $1 and event_type = $2',
  parameters: ['bigint', 'text'],
  columns: columns({ url: 'text' }),
});

export async function findCallbackUrl(
  tx: Queryable,
  channelId: number,
  eventType: CallbackEventType,
): Promise<string | undefined> {
  return (await queryOne(tx, FIND_CALLBACK_URL, [channelId, eventType]))?.url;
}

const STORE_CALLBACK_URL = statement({
  text: `insert into callback_urls (channel_id, event_type, url) values ($1, $2, $3)
     on conflict (channel_id, event_type) do update set url = excluded.url`,
  parameters: ['bigint', 'text', 'text'],
});

export async function storeCallbackUrl(
  tx: Queryable,
  channelId: number,
  eventType: CallbackEventType,
  url: string,
): Promise<void> {
  await tx.query(STORE_CALLBACK_URL, [channelId, eventType, url]);
}

const DELETE_CALLBACK_URL = statement({
  text: 'delete from callback_urls where channel_id = $1 and event_type = $2',
  parameters: ['bigint', 'text'],
});

export async function deleteCallbackUrl(tx: Queryable, channelId: number, eventType: CallbackEventType): Promise<void> {
  await tx.query(DELETE_CALLBACK_URL, [channelId, eventType]);
}
