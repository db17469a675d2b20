import type { AgreementSource, AgreementStatus } from '@perennial/wire';
import { declareHas, declareRequire, declareWrite, type Queryable, queryOne } from '../../../platform/db/database.js';
import { createNumberSupply, type NumberSupply } from '../../../platform/db/sharing/number-supply.js';
import { column, columns, joinColumns, type RowOf, statement } from '../../../platform/db/statement.js';
import { epochMs, fromEpochMs } from '../../../platform/db/time-sql.js';
import type { ListPosition } from '../../../platform/lists/list-page.js';
import { agreementStatusIs } from '../statuses-sql.js';

/**
 * A card. Its details are encrypted, and its card and certificate numbers are hashed, with the channel's keys. The last
 * four digits and the bank code are plain text.
 */
export type CardColumns = Pick<AgreementRow, keyof typeof CARD_PARAMETERS>;

export type AgreementRow = RowOf<typeof AGREEMENT_COLUMNS>;

/** An agreement of source SELF_BINDING, with data about the text message code that was sent for it. */
export type BindingRow = RowOf<typeof BINDING_COLUMNS>;

const AGREEMENT_FIELDS = `a.agreement_id as "agreementId", a.channel_id as "channelId",
  a.channel_user_id as "channelUserId", a.payment_channel_code as "paymentChannelCode", a.source, a.status,
  a.agreement_no as "agreementNo", a.institution_no as "institutionNo", a.card_hash as "cardHash",
  a.certificate_hash as "certificateHash", a.card_tail as "cardTail", a.details, a.bank_code as "bankCode",
  ${epochMs('a.created_at')} as "createdAt"`;
const BINDING_FIELDS = `${AGREEMENT_FIELDS}, ${epochMs('a.code_sent_at')} as "codeSentAt", a.wrong_codes as "wrongCodes",
  a.gateway_reference as "gatewayReference"`;

const AGREEMENT_COLUMNS = columns({
  agreementId: 'bigint',
  channelId: 'bigint',
  channelUserId: 'text',
  paymentChannelCode: 'text',
  source: column<AgreementSource>('text'),
  status: column<AgreementStatus>('text'),
  /** The agreement number. Null until the agreement is bound. */
  agreementNo: 'text?',
  /** The agreement's number at the institution, encrypted. Null until the agreement is bound. */
  institutionNo: 'text?',
  cardHash: 'bytea',
  certificateHash: 'bytea',
  cardTail: 'text',
  /** Sealed. */
  details: 'text',
  bankCode: 'text?',
  /** In Unix milliseconds, like all times in this file. */
  createdAt: 'bigint',
});

const BINDING_COLUMNS = joinColumns(
  AGREEMENT_COLUMNS,
  columns({
    codeSentAt: 'bigint?',
    wrongCodes: 'integer',
    gatewayReference: 'text?',
  }),
);

export const takeAgreementId = declareRequire({
  text: `select nextval('agreement_numbers') as id`,
  parameters: [],
  columns: columns({ id: 'bigint' }),
  value: ({ id }) => id,
});

const AGREEMENT_NUMBERS_PER_BLOCK = 100;

const TAKE_AGREEMENT_NUMBERS = statement({
  text: `select nextval('agreement_numbers') as id from generate_series(1, ${AGREEMENT_NUMBERS_PER_BLOCK})`,
  parameters: [],
  columns: columns({ id: 'bigint' }),
});

/** Supplies agreement numbers for orders with a shared agreement, read from the sequence in blocks. */
export function createAgreementNumbers(db: Queryable): NumberSupply {
  return createNumberSupply(async () => {
    const rows = await db.query(TAKE_AGREEMENT_NUMBERS);
    return rows.map(({ id }) => id);
  });
}

const CARD_PARAMETERS = {
  cardHash: 'bytea',
  certificateHash: 'bytea',
  cardTail: 'text',
  details: 'text',
  bankCode: 'text?',
} as const;

export const insertAgreement = declareWrite({
  name: 'insert-agreement',
  text: `insert into agreements (agreement_id, channel_id, channel_user_id, payment_channel_code, source, status,
               agreement_no, institution_no, card_hash, certificate_hash, card_tail, details, bank_code, created_at,
               changed_at, institution_hash)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, ${fromEpochMs('$14')}, ${fromEpochMs('$14')}, $15)`,
  parameters: {
    agreementId: 'bigint',
    channelId: 'bigint',
    channelUserId: 'text',
    paymentChannelCode: 'text',
    source: column<AgreementSource>('text'),
    status: column<AgreementStatus>('text'),
    agreementNo: 'text?',
    institutionNo: 'text?',
    ...CARD_PARAMETERS,
    createdAt: 'double precision',
    /** The hash of the agreement's number at the institution. */
    institutionHash: 'bytea?',
  },
});

/** Matches only the spelling that the service itself uses. A bindOrderNo in any other spelling is unknown. */
const BIND_ORDER_NO_PATTERN = /^[1-9][0-9]{0,14}$/;

/** Filters by channel and source, so that other channels' bindings and shared agreements are not found. */
const bindingStatement = (name: string, lock: '' | 'for update') =>
  statement({
    name,
    text: `select ${BINDING_FIELDS} from agreements a
             where a.agreement_id = $1 and a.channel_id = $2 and a.source = 'SELF_BINDING' ${lock}`,
    parameters: ['bigint', 'bigint'],
    columns: BINDING_COLUMNS,
  });

const FIND_BINDING = bindingStatement('find-binding', '');
const LOCK_BINDING = bindingStatement('lock-binding', 'for update');

async function queryBinding(
  db: Queryable,
  select: typeof FIND_BINDING,
  channelId: number,
  bindOrderNo: string,
): Promise<BindingRow | undefined> {
  if (!BIND_ORDER_NO_PATTERN.test(bindOrderNo)) return undefined;
  const [row] = await db.query(select, [bindOrderNo, channelId]);
  return row;
}

export async function findBinding(
  db: Queryable,
  channelId: number,
  bindOrderNo: string,
): Promise<BindingRow | undefined> {
  return queryBinding(db, FIND_BINDING, channelId, bindOrderNo);
}

const FIND_BINDING_IN_FORCE = statement({
  text: `select ${BINDING_FIELDS} from agreements n join agreements a on a.channel_id = n.channel_id
       and key_of(a.channel_user_id) = key_of(n.channel_user_id) and a.payment_channel_code = n.payment_channel_code
       and a.card_hash = n.card_hash and ${agreementStatusIs('a.status', 'BIND_SUCCESS')} and a.source = 'SELF_BINDING'
     where n.agreement_id = $1 and a.line_id = coalesce(n.line_id, n.agreement_id)`,
  parameters: ['bigint'],
  columns: BINDING_COLUMNS,
});

/**
 * Finds the binding in force for a bindOrderNo. If the binding with this number was replaced, because its card was
 * bound again, returns the latest binding in the same line of replacements. If the binding was not replaced, or its
 * line has no binding in force, returns the binding with this number, whatever its status. If a card is bound after its
 * last binding has ended, a new line begins. Searches by card with the conditions of the index, so one look-up suffices
 * however often the card was bound.
 */
export async function findBindingInForce(
  db: Queryable,
  channelId: number,
  bindOrderNo: string,
): Promise<BindingRow | undefined> {
  const named = await findBinding(db, channelId, bindOrderNo);
  if (named?.status !== 'REPLACED') return named;
  return (await queryOne(db, FIND_BINDING_IN_FORCE, [named.agreementId])) ?? named;
}

/** Reads a binding under its row lock. */
export async function lockBinding(
  tx: Queryable,
  channelId: number,
  bindOrderNo: string,
): Promise<BindingRow | undefined> {
  return queryBinding(tx, LOCK_BINDING, channelId, bindOrderNo);
}

/**
 * Prepares a binding for a new code, perhaps for a different card. The earlier code becomes invalid, and the count of
 * wrong codes begins at 0 again.
 */
export const restartBinding = declareWrite({
  text: `update agreements set status = $2, card_hash = $3, certificate_hash = $4, card_tail = $5, details = $6,
       bank_code = $7, code_sent_at = null, wrong_codes = 0, gateway_reference = null, changed_at = ${fromEpochMs('$8')}
     where agreement_id = $1`,
  parameters: {
    agreementId: 'bigint',
    status: column<AgreementStatus>('text'),
    ...CARD_PARAMETERS,
    now: 'double precision',
  },
});

/**
 * Stores that a code was sent. Returns false if the binding was restarted or confirmed meanwhile: the code is then of
 * no use.
 */
export const storeCodeSent = declareHas({
  text: `update agreements set code_sent_at = ${fromEpochMs('$3')}, gateway_reference = $4, changed_at = ${fromEpochMs('$3')}
     where agreement_id = $1 and details = $2 and ${agreementStatusIs('status', 'BIND_ING')} returning 1`,
  parameters: { agreementId: 'bigint', details: 'text', at: 'double precision', reference: 'text?' },
});

/** Counts a code as wrong before the institution checks it, so that concurrent attempts are counted too. */
export const countCodeTry = declareWrite({
  text: 'update agreements set wrong_codes = wrong_codes + 1 where agreement_id = $1',
  parameters: ['bigint'],
});

/** Takes back the count of `countCodeTry`, unless the binding was restarted after that count. */
export const uncountCodeTry = declareWrite({
  text: `update agreements set wrong_codes = wrong_codes - 1
     where agreement_id = $1 and details = $2 and wrong_codes > 0`,
  parameters: { agreementId: 'bigint', details: 'text' },
});

/** Stores a bound agreement with the confirmed card, because a concurrent request may have stored a different card. */
export const storeBoundAgreement = declareWrite({
  text: `update agreements set status = $2, agreement_no = $3, institution_no = $4, card_hash = $5,
       certificate_hash = $6, card_tail = $7, details = $8, bank_code = $9, changed_at = ${fromEpochMs('$10')},
       institution_hash = $11
     where agreement_id = $1`,
  parameters: {
    agreementId: 'bigint',
    status: column<AgreementStatus>('text'),
    agreementNo: 'text',
    institutionNo: 'text',
    ...CARD_PARAMETERS,
    now: 'double precision',
    institutionHash: 'bytea',
  },
});

/** Makes the code unusable. Does nothing if the binding has got a different card or a new code. */
export const storeRefusedBinding = declareWrite({
  text: `update agreements set status = $3, code_sent_at = null, changed_at = ${fromEpochMs('$4')}
     where agreement_id = $1 and details = $2`,
  parameters: {
    agreementId: 'bigint',
    details: 'text',
    status: column<AgreementStatus>('text'),
    now: 'double precision',
  },
});

export interface AgreementFilter {
  readonly channelUserId: string | undefined;
  readonly cardHash: Buffer | undefined;
  readonly certificateHash: Buffer | undefined;
}

export type AgreementKey = readonly [agreementId: number];

/**
 * The filters. In a statement, their parameters follow the parameters for the channel, the limit and the offset. A
 * statement contains only the filters that are given, so that it can use their index.
 */
const AGREEMENT_FILTERS = [
  {
    field: 'channelUserId',
    condition: (value: string) => `key_of(a.channel_user_id) = key_of(${value})`,
    type: 'text',
  },
  { field: 'cardHash', condition: (value: string) => `a.card_hash = ${value}`, type: 'bytea' },
  { field: 'certificateHash', condition: (value: string) => `a.certificate_hash = ${value}`, type: 'bytea' },
  { field: 'after', condition: (value: string) => `a.agreement_id < ${value}`, type: 'bigint' },
] as const;

/** One statement for each combination of filters. The bits of the array index tell which filters it contains. */
const LIST_BOUND_AGREEMENTS = Array.from({ length: 2 ** AGREEMENT_FILTERS.length }, (_, choice) => {
  const given = AGREEMENT_FILTERS.filter((_filter, bit) => choice & (1 << bit));
  const conditions = given.map(({ condition }, place) => ` and ${condition(`$${place + 4}`)}`);
  return statement({
    text: `select ${AGREEMENT_FIELDS} from agreements a
     where a.channel_id = $1 and a.agreement_no is not null${conditions.join('')}
     order by a.agreement_id desc limit $2 offset $3`,
    parameters: ['bigint', 'bigint', 'bigint', ...given.map(({ type }) => type)],
    columns: AGREEMENT_COLUMNS,
  });
});

/**
 * Lists agreements that match all filters, newest first. Includes only agreements that are or were bound, because only
 * these have an agreement number.
 */
export async function listBoundAgreements(
  db: Queryable,
  channelId: number,
  filter: AgreementFilter,
  limit: number,
  { after, offset }: ListPosition<AgreementKey>,
): Promise<AgreementRow[]> {
  const asked = { ...filter, after: after?.[0] };
  const values = AGREEMENT_FILTERS.map(({ field }) => asked[field]);
  const choice = values.reduce<number>((bits, value, bit) => (value === undefined ? bits : bits | (1 << bit)), 0);
  const list = LIST_BOUND_AGREEMENTS[choice];
  if (!list) throw new Error(`there is no list for the filters ${choice}`);
  return db.query(list, [channelId, limit, offset, ...values.filter((value) => value !== undefined)]);
}
