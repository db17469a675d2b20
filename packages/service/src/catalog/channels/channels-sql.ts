import type { EncryptionVersion } from '@perennial/wire/enums';
import { column, columns, declareFind, type RowOf } from '../../platform/db/database.js';
import { epochMs } from '../../platform/db/time-sql.js';
import { imageFile } from '../image-file-sql.js';
import type { Branding } from './branding.js';

export type ChannelRow = RowOf<typeof findChannel>;

export const findChannel = declareFind({
  name: 'find-channel',
  text: `select channel_id as "channelId", app_id as "appId", name, status, version, token_epoch as "tokenEpoch",
               data_key as "dataKey", look_up_key as "lookUpKey",
               (select r.other_key from data_key_rotations r where r.channel_id = c.channel_id) as "otherDataKey",
               app_secret as "appSecret", aes_key as "aesKey",
               callback_secret as "callbackSecret", ip_allow_list::text[] as "ipAllowList",
               rate_per_second as "ratePerSecond", rate_burst as "rateBurst",
               voided_period_events as "voidedPeriodEvents", frame_origins as "frameOrigins",
               answer_encryption as "answerEncryption", accepts_v1 as "acceptsV1",
               former_app_secret as "formerAppSecret", ${epochMs('former_secret_until')} as "formerSecretUntil",
               upcoming_notice_days as "upcomingNoticeDays",
               (select json_build_object('displayName', b.display_name, 'logo', ${imageFile('i')}, 'accent', b.accent, 'support', b.support, 'termsUrl', b.terms_url, 'shopUrl', b.shop_url)
                from channel_brandings b left join images i on i.image_hash = b.logo_hash
                where b.channel_id = c.channel_id) as branding,
               created_at as "createdAt"
             from channels c where app_id = $1`,
  parameters: ['text'],
  columns: columns({
    channelId: 'bigint',
    appId: 'text',
    name: 'text',
    status: column<'ACTIVE' | 'SUSPENDED'>('text'),
    version: 'bigint',
    tokenEpoch: 'integer',
    dataKey: 'text',
    /** Null: the key is derived from the data key. */
    lookUpKey: 'text?',
    /** Null unless the data key is being replaced. */
    otherDataKey: 'text?',
    appSecret: 'text',
    aesKey: 'text',
    callbackSecret: 'text',
    ipAllowList: 'text[]',
    ratePerSecond: 'integer',
    rateBurst: 'integer',
    voidedPeriodEvents: 'boolean',
    frameOrigins: 'text[]',
    answerEncryption: column<EncryptionVersion>('text'),
    acceptsV1: 'boolean',
    /**
     * Sealed like appSecret. Null unless the app secret was replaced with an overlap, or was replaced in the sandbox.
     */
    formerAppSecret: 'text?',
    /** The time until which the former app secret is accepted, in Unix milliseconds. */
    formerSecretUntil: 'bigint?',
    /** How many days before a planned debit its notice is sent. If null, no notice is sent. */
    upcomingNoticeDays: 'integer?',
    /** Null if the channel has no branding. */
    branding: column<Branding>('json?'),
    createdAt: 'timestamp with time zone',
  }),
});

export const findAppId = declareFind({
  text: 'select app_id as "appId" from channels where channel_id = $1',
  parameters: ['bigint'],
  columns: columns({ appId: 'text' }),
  value: ({ appId }) => appId,
});
