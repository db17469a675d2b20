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

export const GATEWAYS = ['sandbox', 'bridge'] as const;
export type GatewayName = (typeof GATEWAYS)[number];

export type PaymentChannelView = RowOf<typeof describePaymentChannels>;

/** The mutable fields. */
export type PaymentChannelFields = Omit<
  PaymentChannelView,
  'code' | 'gateway' | 'channels' | 'createdAt' | 'debitsPausedAt'
>;

/** Lists one payment channel, or all in the order of their codes. */
export const describePaymentChannels = declareList({
  text: `select p.code, p.display_name as "displayName", p.gateway, p.gateway_url as "gatewayUrl",
       p.supported_banks as "supportedBanks", p.bank_code_required as "bankCodeRequired",
       p.debits_per_second as "debitsPerSecond",
       case when p.debit_hour_from is not null
         then json_build_object('from', p.debit_hour_from, 'to', p.debit_hour_to) end as "debitHours",
       p.common_numbers as "commonNumbers", ${shanghaiText('p.debits_paused_at')} as "debitsPausedAt",
       array(select c.app_id from channel_payment_channels cp join channels c using (channel_id)
             where cp.code = p.code order by c.app_id) as channels,
       ${shanghaiText('p.created_at')} as "createdAt"
     from payment_channels p where $1::text is null or p.code = $1 order by p.code`,
  parameters: ['text?'],
  columns: columns({
    code: 'text',
    displayName: 'text',
    gateway: column<GatewayName>('text'),
    gatewayUrl: 'text?',
    supportedBanks: 'text[]',
    bankCodeRequired: 'boolean',
    debitsPerSecond: 'integer?',
    /** Hours of the day in Asia/Shanghai, `from` inclusive, `to` exclusive. A `from` after `to` spans midnight. */
    debitHours: column<{ readonly from: number; readonly to: number }>('json?'),
    /** Whether several channels may share the same agreement number. */
    commonNumbers: 'boolean',
    /** Since when renewals are held. */
    debitsPausedAt: 'text?',
    /** The app ids that are authorized for the payment channel. */
    channels: 'text[]',
    createdAt: 'text',
  }),
});

const lockStatement = (strength: 'share' | 'no key update') =>
  statement({ text: `select from payment_channels where code = $1 for ${strength}`, parameters: ['text'] });

const LOCK_PAYMENT_CHANNEL = { share: lockStatement('share'), change: lockStatement('no key update') };

/**
 * Locks a payment channel. Returns false if it does not exist. Use `share` to keep the row unchanged. Use `change` to
 * change it and then raise the versions of all authorized channels: a transaction that authorizes another channel
 * waits, so no channel is missed. Must run before any channel's row is locked, to avoid deadlocks.
 */
export async function lockPaymentChannel(tx: Queryable, code: string, how: 'share' | 'change'): Promise<boolean> {
  return (await tx.query(LOCK_PAYMENT_CHANNEL[how], [code])).length > 0;
}

const INSERT_PAYMENT_CHANNEL = statement({
  text: `insert into payment_channels (code, gateway, display_name, gateway_url, supported_banks, bank_code_required,
       debits_per_second, debit_hour_from, debit_hour_to, common_numbers)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict (code) do nothing returning code`,
  parameters: ['text', 'text', 'text', 'text', 'text[]', 'boolean', 'integer', 'integer', 'integer', 'boolean'],
});

/** Returns false if the code is taken. */
export async function insertPaymentChannel(
  tx: Queryable,
  code: string,
  gateway: GatewayName,
  fields: PaymentChannelFields,
): Promise<boolean> {
  const made = await tx.query(INSERT_PAYMENT_CHANNEL, [code, gateway, ...toPaymentChannelValues(fields)]);
  return made.length > 0;
}

const STORE_PAYMENT_CHANNEL = statement({
  text: `update payment_channels set display_name = $2, gateway_url = $3, supported_banks = $4, bank_code_required = $5,
       debits_per_second = $6, debit_hour_from = $7, debit_hour_to = $8, common_numbers = $9 where code = $1`,
  parameters: ['text', 'text', 'text', 'text[]', 'boolean', 'integer', 'integer', 'integer', 'boolean'],
});

export async function storePaymentChannel(tx: Queryable, code: string, fields: PaymentChannelFields): Promise<void> {
  await tx.query(STORE_PAYMENT_CHANNEL, [code, ...toPaymentChannelValues(fields)]);
}

export const storeGatewayKey = declareWrite({
  text: 'update payment_channels set gateway_key = $2 where code = $1',
  parameters: ['text', 'text?'],
});

/** Returns the wrapped key of a bridge. */
export const findGatewayKey = declareFind({
  text: 'select gateway_key as key from payment_channels where code = $1',
  parameters: ['text'],
  columns: columns({ key: 'text?' }),
  value: ({ key }) => key,
});

function toPaymentChannelValues(fields: PaymentChannelFields) {
  return [
    fields.displayName,
    fields.gatewayUrl,
    fields.supportedBanks,
    fields.bankCodeRequired,
    fields.debitsPerSecond,
    fields.debitHours?.from ?? null,
    fields.debitHours?.to ?? null,
    fields.commonNumbers,
  ] as const;
}

/** Makes every node read the authorized channels again. Locks the channels by ascending id, to avoid deadlocks. */
export const raiseVersionsOfAuthorizedChannels = declareWrite({
  text: `with locked as (
       select channel_id from channels
       where channel_id in (select channel_id from channel_payment_channels where code = $1)
       order by channel_id for no key update)
     update channels set version = version + 1 where channel_id in (select channel_id from locked)`,
  parameters: ['text'],
});

export type PaymentChannelAuthorization = RowOf<typeof findPaymentChannelAuthorization>;

export const findPaymentChannelAuthorization = declareFind({
  text: `select is_default as "isDefault", share_enabled as "shareEnabled"
     from channel_payment_channels where channel_id = $1 and code = $2`,
  parameters: ['bigint', 'text'],
  columns: columns({ isDefault: 'boolean', shareEnabled: 'boolean' }),
});

/**
 * Removes the default flag from the channel's payment channels, except `$2`. Returns the code of the former default, or
 * undefined.
 */
export const clearOtherDefault = declareFind({
  text: `update channel_payment_channels set is_default = false
     where channel_id = $1 and is_default and code <> $2 returning code`,
  parameters: ['bigint', 'text'],
  columns: columns({ code: 'text' }),
  value: ({ code }) => code,
});

const STORE_PAYMENT_CHANNEL_AUTHORIZATION = statement({
  text: `insert into channel_payment_channels (channel_id, code, is_default, share_enabled) values ($1, $2, $3, $4)
     on conflict (channel_id, code) do update
     set is_default = excluded.is_default, share_enabled = excluded.share_enabled`,
  parameters: ['bigint', 'text', 'boolean', 'boolean'],
});

export async function storePaymentChannelAuthorization(
  tx: Queryable,
  channelId: number,
  code: string,
  { isDefault, shareEnabled }: PaymentChannelAuthorization,
): Promise<void> {
  await tx.query(STORE_PAYMENT_CHANNEL_AUTHORIZATION, [channelId, code, isDefault, shareEnabled]);
}

export const deletePaymentChannelAuthorization = declareWrite({
  text: 'delete from channel_payment_channels where channel_id = $1 and code = $2',
  parameters: ['bigint', 'text'],
});

/** Returns false if the renewals of the payment channel are held already. */
export const pauseDebits = declareHas({
  text: 'update payment_channels set debits_paused_at = now() where code = $1 and debits_paused_at is null returning 1',
  parameters: ['text'],
});

/** Returns false if the renewals of the payment channel are not held. */
export const resumeDebits = declareHas({
  text: 'update payment_channels set debits_paused_at = null where code = $1 and debits_paused_at is not null returning 1',
  parameters: ['text'],
});
