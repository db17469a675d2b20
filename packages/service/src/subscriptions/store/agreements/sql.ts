import type { AgreementSource, AgreementStatus } from '@perennial/wire';
import { columns, joinColumns, type Queryable, statement } from '../../../platform/db/database.js';
import { instant, ms } from '../../../platform/db/time-sql.js';
import type { ListPosition } from '../../../platform/lists/list-page.js';
import { agreementIs } from '../statuses-sql.js';

/** Which card, sealed and hashed under the channel's keys. */
export interface CardColumns {
  readonly cardHash: Buffer;
  readonly certificateHash: Buffer;
  readonly cardTail: string;
  /** Sealed. */
  readonly details: string;
  readonly bankCode: string | null;
}

export interface AgreementRow extends CardColumns {
  readonly agreementId: number;
  readonly channelId: number;
  readonly channelUserId: string;
  readonly paymentChannelCode: string;
  readonly source: AgreementSource;
  readonly status: AgreementStatus;
  /** Null until it is bound. */
  readonly agreementNo: string | null;
  /** Sealed; null until it is bound. */
  readonly institutionNo: string | null;
  /** Unix milliseconds, as every time here. */
  readonly createdAt: number;
}

/** With the hash of what the institution calls it, which is written and never read back. */
export interface NewAgreementRow extends AgreementRow {
  readonly institutionHash?: Buffer;
}

/** An agreement of source SELF_BINDING, with the code that is under way. */
export interface BindingRow extends AgreementRow {
  readonly codeSentAt: number | null;
  readonly wrongCodes: number;
  readonly gatewayReference: string | null;
}

const AGREEMENT_COLUMNS = `a.agreement_id as "agreementId", a.channel_id as "channelId",
  a.channel_user_id as "channelUserId", a.payment_channel_code as "paymentChannelCode", a.source, a.status,
  a.agreement_no as "agreementNo", a.institution_no as "institutionNo", a.card_hash as "cardHash",
  a.certificate_hash as "certificateHash", a.card_tail as "cardTail", a.details, a.bank_code as "bankCode",
  ${ms('a.created_at')} as "createdAt"`;
const BINDING_COLUMNS = `${AGREEMENT_COLUMNS}, ${ms('a.code_sent_at')} as "codeSentAt", a.wrong_codes as "wrongCodes",
  a.gateway_reference as "gatewayReference"`;

const AGREEMENT_ROW = columns<AgreementRow>({
  agreementId: 'bigint',
  channelId: 'bigint',
  channelUserId: 'text',
  paymentChannelCode: 'text',
  source: 'text',
  status: 'text',
  agreementNo: 'text?',
  institutionNo: 'text?',
  cardHash: 'bytea',
  certificateHash: 'bytea',
  cardTail: 'text',
  details: 'text',
  bankCode: 'text?',
  createdAt: 'bigint',
});

const BINDING_ROW = joinColumns(
  AGREEMENT_ROW,
  columns<Omit<BindingRow, keyof AgreementRow>>({
    codeSentAt: 'bigint?',
    wrongCodes: 'integer',
    gatewayReference: 'text?',
  }),
);

const NEXT_AGREEMENT_ID = statement({
  text: `select nextval('agreement_numbers') as id`,
  parameters: [],
  columns: columns<{ id: number }>({ id: 'bigint' }),
});

export async function nextAgreementId(db: Queryable): Promise<number> {
  const [row] = await db.query(NEXT_AGREEMENT_ID);
  if (!row) throw new Error('a sequence gave no number');
  return row.id;
}

const INSERT_AGREEMENT = statement({
  name: 'insert-agreement',
  text: `insert into agreements (agreement_id, channel_id, channel_user_id, payment_channel_code, source, status,
               agreement_no, institution_no, card_hash, certificate_hash, card_tail, details, bank_code, created_at,
               changed_at, institution_hash)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, ${instant('$14')}, ${instant('$14')}, $15)`,
  parameters: [
    'bigint',
    'bigint',
    'text',
    'text',
    'text',
    'text',
    'text',
    'text',
    'bytea',
    'bytea',
    'text',
    'text',
    'text',
    'double precision',
    'bytea',
  ],
});

export async function insertAgreement(tx: Queryable, row: NewAgreementRow): Promise<void> {
  await tx.query(INSERT_AGREEMENT, [
    row.agreementId,
    row.channelId,
    row.channelUserId,
    row.paymentChannelCode,
    row.source,
    row.status,
    row.agreementNo,
    row.institutionNo,
    row.cardHash,
    row.certificateHash,
    row.cardTail,
    row.details,
    row.bankCode,
    row.createdAt,
    row.institutionHash ?? null,
  ]);
}

/** Spelled exactly as it was given out: anything else is as unknown as a number that never was. */
const BIND_ORDER_NO = /^[1-9][0-9]{0,14}$/;

/** Whose binding it is, is part of the question: another channel's, or a shared agreement, is as unknown as none. */
const selectBinding = (name: string, lock: '' | 'for update') =>
  statement({
    name,
    text: `select ${BINDING_COLUMNS} from agreements a
             where a.agreement_id = $1 and a.channel_id = $2 and a.source = 'SELF_BINDING' ${lock}`,
    parameters: ['bigint', 'bigint'],
    columns: BINDING_ROW,
  });

const FIND_BINDING = selectBinding('find-binding', '');
const LOCK_BINDING = selectBinding('lock-binding', 'for update');

async function binding(
  db: Queryable,
  select: typeof FIND_BINDING,
  channelId: number,
  bindOrderNo: string,
): Promise<BindingRow | undefined> {
  if (!BIND_ORDER_NO.test(bindOrderNo)) return undefined;
  const [row] = await db.query(select, [bindOrderNo, channelId]);
  return row;
}

export async function findBinding(
  db: Queryable,
  channelId: number,
  bindOrderNo: string,
): Promise<BindingRow | undefined> {
  return binding(db, FIND_BINDING, channelId, bindOrderNo);
}

const FIND_BINDING_IN_FORCE = statement({
  text: `select ${BINDING_COLUMNS} from agreements n join agreements a on a.channel_id = n.channel_id
       and key_of(a.channel_user_id) = key_of(n.channel_user_id) and a.payment_channel_code = n.payment_channel_code
       and a.card_hash = n.card_hash and ${agreementIs('a.status', 'BIND_SUCCESS')} and a.source = 'SELF_BINDING'
     where n.agreement_id = $1 and a.line_id = coalesce(n.line_id, n.agreement_id)`,
  parameters: ['bigint'],
  columns: BINDING_ROW,
});

/**
 * The binding in force that a number stands for: of one that was replaced by another of the same card, the last of those
 * that followed, if that is bound. It is found by the card, as the conditions are those of the index: one look-up, however
 * many followed. A card that was bound anew after its line had ended has begun another one.
 */
export async function findBindingInForce(
  db: Queryable,
  channelId: number,
  bindOrderNo: string,
): Promise<BindingRow | undefined> {
  const named = await findBinding(db, channelId, bindOrderNo);
  if (named?.status !== 'REPLACED') return named;
  const [last] = await db.query(FIND_BINDING_IN_FORCE, [named.agreementId]);
  return last ?? named;
}

/** Under its row lock: everything that changes a binding takes it first. */
export async function lockBinding(
  tx: Queryable,
  channelId: number,
  bindOrderNo: string,
): Promise<BindingRow | undefined> {
  return binding(tx, LOCK_BINDING, channelId, bindOrderNo);
}

const RESTART_BINDING = statement({
  text: `update agreements set status = $2, card_hash = $3, certificate_hash = $4, card_tail = $5, details = $6,
       bank_code = $7, code_sent_at = null, wrong_codes = 0, gateway_reference = null, changed_at = ${instant('$8')}
     where agreement_id = $1`,
  parameters: ['bigint', 'text', 'bytea', 'bytea', 'text', 'text', 'text', 'double precision'],
});

/** Another code is about to be sent, maybe for another card: the former code, and what it was tried with, is over. */
export async function restartBinding(
  tx: Queryable,
  agreementId: number,
  status: AgreementStatus,
  card: CardColumns,
  now: number,
): Promise<void> {
  await tx.query(RESTART_BINDING, [
    agreementId,
    status,
    card.cardHash,
    card.certificateHash,
    card.cardTail,
    card.details,
    card.bankCode,
    now,
  ]);
}

const STORE_CODE_SENT = statement({
  text: `update agreements set code_sent_at = ${instant('$3')}, gateway_reference = $4, changed_at = ${instant('$3')}
     where agreement_id = $1 and details = $2 and ${agreementIs('status', 'BIND_ING')} returning 1`,
  parameters: ['bigint', 'text', 'double precision', 'text'],
});

/** False when the binding has moved on since this card was stored: then the code that was sent is not its code. */
export async function storeCodeSent(
  tx: Queryable,
  { agreementId, details }: Pick<AgreementRow, 'agreementId' | 'details'>,
  sent: { readonly at: number; readonly reference: string | undefined },
): Promise<boolean> {
  const rows = await tx.query(STORE_CODE_SENT, [agreementId, details, sent.at, sent.reference ?? null]);
  return rows.length === 1;
}

const COUNT_TRY = statement({
  text: 'update agreements set wrong_codes = wrong_codes + 1 where agreement_id = $1',
  parameters: ['bigint'],
});

/** Counted before the institution is asked, so that codes tried at the same time are counted too. */
export async function countTry(tx: Queryable, agreementId: number): Promise<void> {
  await tx.query(COUNT_TRY, [agreementId]);
}

const UNCOUNT_TRY = statement({
  text: `update agreements set wrong_codes = wrong_codes - 1
     where agreement_id = $1 and details = $2 and wrong_codes > 0`,
  parameters: ['bigint', 'text'],
});

/** The institution did not say that the code was wrong. */
export async function uncountTry(
  db: Queryable,
  { agreementId, details }: Pick<AgreementRow, 'agreementId' | 'details'>,
): Promise<void> {
  await db.query(UNCOUNT_TRY, [agreementId, details]);
}

const STORE_BOUND = statement({
  text: `update agreements set status = $2, agreement_no = $3, institution_no = $4, card_hash = $5,
       certificate_hash = $6, card_tail = $7, details = $8, bank_code = $9, changed_at = ${instant('$10')},
       institution_hash = $11
     where agreement_id = $1`,
  parameters: ['bigint', 'text', 'text', 'text', 'bytea', 'bytea', 'text', 'text', 'text', 'double precision', 'bytea'],
});

/** With the card that the institution was asked about, should another have been stored in the meantime. */
export async function storeBound(
  tx: Queryable,
  row: NewAgreementRow & { readonly agreementNo: string; readonly institutionNo: string },
  now: number,
): Promise<void> {
  await tx.query(STORE_BOUND, [
    row.agreementId,
    row.status,
    row.agreementNo,
    row.institutionNo,
    row.cardHash,
    row.certificateHash,
    row.cardTail,
    row.details,
    row.bankCode,
    now,
    row.institutionHash ?? null,
  ]);
}

const STORE_REFUSED = statement({
  text: `update agreements set status = $3, code_sent_at = null, changed_at = ${instant('$4')}
     where agreement_id = $1 and details = $2`,
  parameters: ['bigint', 'text', 'text', 'double precision'],
});

/** The code is spent with it. Nothing happens to a binding that has got another card or code since. */
export async function storeRefused(
  tx: Queryable,
  { agreementId, details }: Pick<AgreementRow, 'agreementId' | 'details'>,
  status: AgreementStatus,
  now: number,
): Promise<void> {
  await tx.query(STORE_REFUSED, [agreementId, details, status, now]);
}

export interface AgreementFilter {
  readonly channelUserId: string | undefined;
  readonly cardHash: Buffer | undefined;
  readonly certificateHash: Buffer | undefined;
}

export type AgreementKey = readonly [agreementId: number];

/** What each filter asks for, after the channel, the limit and the offset. Only the text that is given finds its index. */
const FILTERS = [
  {
    field: 'channelUserId',
    condition: (value: string) => `key_of(a.channel_user_id) = key_of(${value})`,
    type: 'text',
  },
  { field: 'cardHash', condition: (value: string) => `a.card_hash = ${value}`, type: 'bytea' },
  { field: 'certificateHash', condition: (value: string) => `a.certificate_hash = ${value}`, type: 'bytea' },
  { field: 'after', condition: (value: string) => `a.agreement_id < ${value}`, type: 'bigint' },
] as const;

/** One for each choice of filters, at the place whose bits say which. */
const LIST_BOUND = Array.from({ length: 2 ** FILTERS.length }, (_, choice) => {
  const given = FILTERS.filter((_filter, bit) => choice & (1 << bit));
  const conditions = given.map(({ condition }, place) => ` and ${condition(`$${place + 4}`)}`);
  return statement({
    text: `select ${AGREEMENT_COLUMNS} from agreements a
     where a.channel_id = $1 and a.agreement_no is not null${conditions.join('')}
     order by a.agreement_id desc limit $2 offset $3`,
    parameters: ['bigint', 'bigint', 'bigint', ...given.map(({ type }) => type)],
    columns: AGREEMENT_ROW,
  });
});

/** Agreements that were bound at some time and match all that is given, newest first. Bound is: has a number. */
export async function listBoundAgreements(
  db: Queryable,
  channelId: number,
  filter: AgreementFilter,
  limit: number,
  { after, offset }: ListPosition<AgreementKey>,
): Promise<AgreementRow[]> {
  const asked = { ...filter, after: after?.[0] };
  const values = FILTERS.map(({ field }) => asked[field]);
  const choice = values.reduce<number>((bits, value, bit) => (value === undefined ? bits : bits | (1 << bit)), 0);
  const list = LIST_BOUND[choice];
  if (!list) throw new Error(`there is no list for the filters ${choice}`);
  return db.query(list, [channelId, limit, offset, ...values.filter((value) => value !== undefined)]);
}
