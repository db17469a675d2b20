import type { EncryptionVersion, EventType } from '@perennial/wire/enums';
import {
  column,
  columns,
  declareFind,
  declareHas,
  declareList,
  declareWrite,
  type Queryable,
  type RowOf,
  statement,
} from '../../platform/db/database.js';
import { shanghaiText } from '../../platform/db/time-sql.js';
import { type ImageView, imageView } from '../image-file-sql.js';
import type { Branding } from './branding.js';
import { type ChannelRow, findChannel } from './channels-sql.js';

/** The branding of a channel, as operators see it. */
export interface BrandingView extends Omit<Branding, 'logo'> {
  readonly logo: ImageView | null;
}

/** A channel as operators see it, without its secrets. */
export type ChannelView = RowOf<typeof describeChannels>;

/** `*` is the default for event types that have no address of their own. */
export type CallbackEventType = EventType | '*';

/** Lists one channel, or all channels in the order of their app ids. */
export const describeChannels = declareList({
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
  parameters: ['text?'],
  columns: columns({
    channelId: 'text',
    appId: 'text',
    name: 'text',
    status: column<ChannelRow['status']>('text'),
    ratePerSecond: 'integer',
    rateBurst: 'integer',
    ipAllowList: 'text[]',
    voidedPeriodEvents: 'boolean',
    /** How many days before a period its notice is sent. If null, no notice is sent. */
    upcomingNoticeDays: 'integer?',
    /** Origins whose pages may show the redemption page in a frame. */
    frameOrigins: 'text[]',
    /** The version of encrypted fields in events, and in answers to requests without encrypted fields. */
    answerEncryption: column<EncryptionVersion>('text'),
    acceptsV1: 'boolean',
    callbackUrls: column<readonly { readonly eventType: CallbackEventType; readonly url: string }[]>('json'),
    /** Event types that an operator has paused. `*` stands for all event types. */
    pausedEvents: column<readonly CallbackEventType[]>('text[]'),
    products: 'text[]',
    paymentChannels:
      column<readonly { readonly code: string; readonly isDefault: boolean; readonly shareEnabled: boolean }[]>('json'),
    branding: column<BrandingView>('json'),
    /** The end of the overlap in which the former app secret is accepted too. Null if there is no overlap. */
    formerSecretUntil: 'text?',
    createdAt: 'text',
  }),
});

const LOCK_CHANNEL = statement({
  text: 'select 1 from channels where app_id = $1 for no key update',
  parameters: ['text'],
});

/**
 * Locks the row against changes until the transaction ends. Uses `no key update`, so that rows which refer to the
 * channel can be inserted while the lock is held.
 */
export async function lockChannel(tx: Queryable, appId: string): Promise<ChannelRow | undefined> {
  const locked = await tx.query(LOCK_CHANNEL, [appId]);
  return locked.length === 0 ? undefined : findChannel(tx, appId);
}

const SECRET_PARAMETERS = { appSecret: 'text', aesKey: 'text', callbackSecret: 'text' } as const;

/** Inserts a channel with a full rate bucket. Returns false if the app id is taken. */
export const insertChannel = declareHas({
  text: `with made as (
       insert into channels (app_id, name, rate_per_second, rate_burst, data_key, app_secret, aes_key, callback_secret)
       values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (app_id) do nothing returning channel_id, rate_burst)
     insert into rate_limits (channel_id, tokens) select channel_id, rate_burst from made returning channel_id`,
  parameters: {
    appId: 'text',
    name: 'text',
    ratePerSecond: 'integer',
    rateBurst: 'integer',
    dataKey: 'text',
    ...SECRET_PARAMETERS,
  },
});

/** Makes every node read the channel again before it serves the channel's next request. */
export const raiseChannelVersion = declareWrite({
  text: 'update channels set version = version + 1 where channel_id = $1',
  parameters: ['bigint'],
});

export const storeChannelStatus = declareWrite({
  text: 'update channels set status = $2 where channel_id = $1',
  parameters: ['bigint', column<ChannelRow['status']>('text')],
});

export const storeCredentials = declareWrite({
  text: `update channels set app_secret = $2, aes_key = $3, callback_secret = $4 where channel_id = $1`,
  parameters: { channelId: 'bigint', ...SECRET_PARAMETERS },
});

/** Stores a new data key, and the credentials sealed under it. */
export const storeSwitchedKeys = declareWrite({
  text: `update channels set data_key = $2, app_secret = $3, aes_key = $4, callback_secret = $5, former_app_secret = $6
     where channel_id = $1`,
  parameters: {
    channelId: 'bigint',
    dataKey: 'text',
    ...SECRET_PARAMETERS,
    formerAppSecret: column<string | null>('text'),
  },
});

export const storeLookUpKey = declareWrite({
  text: 'update channels set look_up_key = $2 where channel_id = $1',
  parameters: ['bigint', 'text'],
});

/** Keeps the current app secret valid for some more hours. Must run before the new app secret is stored. */
export const keepFormerAppSecret = declareWrite({
  text: `update channels set former_app_secret = app_secret, former_secret_until = now() + $2::integer * interval '1 hour'
     where channel_id = $1`,
  parameters: ['bigint', 'integer'],
});

/**
 * For the sandbox: stores the current app secret as a former app secret that is recognised, but no longer accepted. Its
 * end is set to 1970, so that it has ended by any clock. Must run before the new app secret is stored.
 */
export const keepEndedAppSecret = declareWrite({
  text: `update channels set former_app_secret = app_secret, former_secret_until = to_timestamp(0) where channel_id = $1`,
  parameters: ['bigint'],
});

export const forgetFormerAppSecret = declareWrite({
  text: 'update channels set former_app_secret = null, former_secret_until = null where channel_id = $1',
  parameters: ['bigint'],
});

export const endAccessTokens = declareWrite({
  text: 'update channels set token_epoch = token_epoch + 1 where channel_id = $1',
  parameters: ['bigint'],
});

/** Stores the list and returns it, or returns undefined if the list has not changed. */
export const storeIpAllowList = declareFind({
  text: `update channels set ip_allow_list = $2::cidr[] where channel_id = $1 and ip_allow_list <> $2::cidr[]
     returning ip_allow_list::text[] as ranges`,
  parameters: ['bigint', 'cidr[]'],
  columns: columns({ ranges: 'text[]' }),
  value: ({ ranges }) => ranges,
});

const STORE_RATE_LIMITS = statement({
  text: 'update channels set rate_per_second = $2, rate_burst = $3 where channel_id = $1',
  parameters: ['bigint', 'integer', 'integer'],
});

const CUT_SAVED_REQUESTS = statement({
  text: 'update rate_limits set tokens = least(tokens, $2) where channel_id = $1',
  parameters: ['bigint', 'double precision'],
});

/** Stores the limits. If the channel has saved more tokens than the new burst, reduces them to the burst. */
export async function storeRateLimits(tx: Queryable, channelId: number, rate: number, burst: number): Promise<void> {
  await tx.query(STORE_RATE_LIMITS, [channelId, rate, burst]);
  await tx.query(CUT_SAVED_REQUESTS, [channelId, burst]);
}

export const storeVoidedPeriodEvents = declareWrite({
  text: 'update channels set voided_period_events = $2 where channel_id = $1',
  parameters: ['bigint', 'boolean'],
});

export const storeUpcomingNoticeDays = declareWrite({
  text: 'update channels set upcoming_notice_days = $2 where channel_id = $1',
  parameters: ['bigint', 'integer?'],
});

export const storeChannelName = declareWrite({
  text: 'update channels set name = $2 where channel_id = $1',
  parameters: ['bigint', 'text'],
});

export const storeFrameOrigins = declareWrite({
  text: 'update channels set frame_origins = $2 where channel_id = $1',
  parameters: ['bigint', 'text[]'],
});

export const storeEncryption = declareWrite({
  text: 'update channels set answer_encryption = $2, accepts_v1 = $3 where channel_id = $1',
  parameters: ['bigint', column<EncryptionVersion>('text'), 'boolean'],
});

export const findCallbackUrl = declareFind({
  text: 'select url from callback_urls where channel_id = $1 and event_type = $2',
  parameters: ['bigint', column<CallbackEventType>('text')],
  columns: columns({ url: 'text' }),
  value: ({ url }) => url,
});

export const storeCallbackUrl = declareWrite({
  text: `insert into callback_urls (channel_id, event_type, url) values ($1, $2, $3)
     on conflict (channel_id, event_type) do update set url = excluded.url, answered_at = null, failed_at = null,
       failing_since = null, failures = 0`,
  parameters: ['bigint', column<CallbackEventType>('text'), 'text'],
});

export const deleteCallbackUrl = declareWrite({
  text: 'delete from callback_urls where channel_id = $1 and event_type = $2',
  parameters: ['bigint', column<CallbackEventType>('text')],
});
