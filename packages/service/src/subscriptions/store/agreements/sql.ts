import type { AgreementSource, AgreementStatus } from '@perennial/wire';
import type { Queryable } from '../../../platform/db/database.js';
import { instant, ms } from '../../../platform/db/time-sql.js';
import type { Place } from '../../../platform/lists/page.js';

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
  /** Of the same, written with it; never read back. */
  readonly institutionHash?: Buffer;
  /** Unix milliseconds, as every time here. */
  readonly createdAt: number;
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

export async function nextAgreementId(db: Queryable): Promise<number> {
  const [row] = await db.query<{ id: number }>(`select nextval('agreement_numbers') as id`);
  if (!row) throw new Error('a sequence gave no number');
  return row.id;
}

export async function insertAgreement(tx: Queryable, row: AgreementRow): Promise<void> {
  await tx.query(
    {
      name: 'insert-agreement',
      text: `insert into agreements (agreement_id, channel_id, channel_user_id, payment_channel_code, source, status,
               agreement_no, institution_no, card_hash, certificate_hash, card_tail, details, bank_code, created_at,
               changed_at, institution_hash)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, ${instant('$14')}, ${instant('$14')}, $15)`,
    },
    [
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
    ],
  );
}

/** Spelled exactly as it was given out: anything else is as unknown as a number that never was. */
const BIND_ORDER_NO = /^[1-9][0-9]{0,14}$/;

/** Whose binding it is, is part of the question: another channel's, or a shared agreement, is as unknown as none. */
async function binding(
  db: Queryable,
  channelId: number,
  bindOrderNo: string,
  lock: '' | 'for update',
): Promise<BindingRow | undefined> {
  if (!BIND_ORDER_NO.test(bindOrderNo)) return undefined;
  const [row] = await db.query<BindingRow>(
    {
      name: lock === '' ? 'find-binding' : 'lock-binding',
      text: `select ${BINDING_COLUMNS} from agreements a
             where a.agreement_id = $1 and a.channel_id = $2 and a.source = 'SELF_BINDING' ${lock}`,
    },
    [bindOrderNo, channelId],
  );
  return row;
}

export async function findBinding(
  db: Queryable,
  channelId: number,
  bindOrderNo: string,
): Promise<BindingRow | undefined> {
  return binding(db, channelId, bindOrderNo, '');
}

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
  const [last] = await db.query<BindingRow>(
    `select ${BINDING_COLUMNS} from agreements n join agreements a on a.channel_id = n.channel_id
       and key_of(a.channel_user_id) = key_of(n.channel_user_id) and a.payment_channel_code = n.payment_channel_code
       and a.card_hash = n.card_hash and a.status = 'BIND_SUCCESS' and a.source = 'SELF_BINDING'
     where n.agreement_id = $1 and a.line_id = coalesce(n.line_id, n.agreement_id)`,
    [named.agreementId],
  );
  return last ?? named;
}

/** Under its row lock: everything that changes a binding takes it first. */
export async function lockBinding(
  tx: Queryable,
  channelId: number,
  bindOrderNo: string,
): Promise<BindingRow | undefined> {
  return binding(tx, channelId, bindOrderNo, 'for update');
}

/** Another code is about to be sent, maybe for another card: the former code, and what it was tried with, is over. */
export async function restartBinding(
  tx: Queryable,
  agreementId: number,
  status: AgreementStatus,
  card: CardColumns,
  now: number,
): Promise<void> {
  await tx.query(
    `update agreements set status = $2, card_hash = $3, certificate_hash = $4, card_tail = $5, details = $6,
       bank_code = $7, code_sent_at = null, wrong_codes = 0, gateway_reference = null, changed_at = ${instant('$8')}
     where agreement_id = $1`,
    [agreementId, status, card.cardHash, card.certificateHash, card.cardTail, card.details, card.bankCode, now],
  );
}

/** False when the binding has moved on since this card was stored: then the code that was sent is not its code. */
export async function storeCodeSent(
  tx: Queryable,
  { agreementId, details }: Pick<AgreementRow, 'agreementId' | 'details'>,
  sent: { readonly at: number; readonly reference: string | undefined },
): Promise<boolean> {
  const rows = await tx.query(
    `update agreements set code_sent_at = ${instant('$3')}, gateway_reference = $4, changed_at = ${instant('$3')}
     where agreement_id = $1 and details = $2 and status = 'BIND_ING' returning 1`,
    [agreementId, details, sent.at, sent.reference ?? null],
  );
  return rows.length === 1;
}

/** Counted before the institution is asked, so that codes tried at the same time are counted too. */
export async function countTry(tx: Queryable, agreementId: number): Promise<void> {
  await tx.query('update agreements set wrong_codes = wrong_codes + 1 where agreement_id = $1', [agreementId]);
}

/** The institution did not say that the code was wrong. */
export async function uncountTry(
  db: Queryable,
  { agreementId, details }: Pick<AgreementRow, 'agreementId' | 'details'>,
): Promise<void> {
  await db.query(
    `update agreements set wrong_codes = wrong_codes - 1
     where agreement_id = $1 and details = $2 and wrong_codes > 0`,
    [agreementId, details],
  );
}

/** With the card that the institution was asked about, should another have been stored in the meantime. */
export async function storeBound(
  tx: Queryable,
  row: AgreementRow & { readonly agreementNo: string; readonly institutionNo: string },
  now: number,
): Promise<void> {
  await tx.query(
    `update agreements set status = $2, agreement_no = $3, institution_no = $4, card_hash = $5,
       certificate_hash = $6, card_tail = $7, details = $8, bank_code = $9, changed_at = ${instant('$10')},
       institution_hash = $11
     where agreement_id = $1`,
    [
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
    ],
  );
}

/** The code is spent with it. Nothing happens to a binding that has got another card or code since. */
export async function storeRefused(
  tx: Queryable,
  { agreementId, details }: Pick<AgreementRow, 'agreementId' | 'details'>,
  status: AgreementStatus,
  now: number,
): Promise<void> {
  await tx.query(
    `update agreements set status = $3, code_sent_at = null, changed_at = ${instant('$4')}
     where agreement_id = $1 and details = $2`,
    [agreementId, details, status, now],
  );
}

export interface AgreementFilter {
  readonly channelUserId: string | undefined;
  readonly cardHash: Buffer | undefined;
  readonly certificateHash: Buffer | undefined;
}

export type AgreementKey = readonly [agreementId: number];

/**
 * Agreements that were bound at some time and match all that is given, newest first. Bound is: has a number. What is not
 * given is not in the text, so that each of the filters finds its index.
 */
export async function listBoundAgreements(
  db: Queryable,
  channelId: number,
  { channelUserId, cardHash, certificateHash }: AgreementFilter,
  limit: number,
  { after, offset }: Place<AgreementKey>,
): Promise<AgreementRow[]> {
  const values: unknown[] = [channelId];
  const value = (given: unknown) => `$${values.push(given)}`;
  const conditions = [
    'a.channel_id = $1 and a.agreement_no is not null',
    ...(channelUserId === undefined ? [] : [`key_of(a.channel_user_id) = key_of(${value(channelUserId)}::text)`]),
    ...(cardHash === undefined ? [] : [`a.card_hash = ${value(cardHash)}`]),
    ...(certificateHash === undefined ? [] : [`a.certificate_hash = ${value(certificateHash)}`]),
    ...(after === undefined ? [] : [`a.agreement_id < ${value(after[0])}`]),
  ];
  return db.query<AgreementRow>(
    `select ${AGREEMENT_COLUMNS} from agreements a where ${conditions.join(' and ')}
     order by a.agreement_id desc limit ${value(limit)} offset ${value(offset)}`,
    values,
  );
}
