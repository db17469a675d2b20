import { createHash, randomBytes } from 'node:crypto';
import { column, columns, type Queryable, type RowOf, requireOne, statement } from '../../platform/db/database.js';
import { declareList, declareRequire, type Query } from '../../platform/db/declared.js';
import { shanghaiText } from '../../platform/db/time-sql.js';
import type { Operator } from '../operator.js';
import { type PageInput, readPage } from '../paging.js';
import { requireInteger } from '../rules.js';
import { LINK, sealOf, storeSeal } from './seals-sql.js';

/** An entry of the audit log. It is written in the transaction of the change, so that no change lacks its entry. */
export interface AuditEntry {
  readonly actor: string;
  readonly action: string;
  readonly subject: string;
  /** The change, without secrets. Only the fields in `ERASABLE` may contain texts about a user. */
  readonly detail: Readonly<Record<string, unknown>>;
  /** The client's address. Unset: the transaction's setting `perennial.address`. */
  readonly address?: string | null;
}

const RECORD_AUDIT = statement({
  text: `with entry as (
       insert into audit_log (at, actor, action, subject, detail, address)
       values (now(), $1, $2, $3, $4, $5)
       returning audit_id, chain_no, chain),
     texts as (insert into audit_texts (audit_id, salt, texts) select audit_id, $6, $7 from entry where $7::text is not null)
     select chain_no as "chainNo", chain from entry`,
  parameters: ['text', 'text', 'text', 'jsonb', 'text', 'bytea', 'text'],
  columns: LINK,
});

/**
 * Free texts in a detail, which may describe a user. They are stored outside the chain, because a chained entry cannot
 * be erased.
 */
const ERASABLE = new Set(['formerMobile', 'newMobile', 'note', 'reason', 'withoutApproval']);

/** Housekeeping deletes the texts after this time. */
export const AUDIT_TEXT_DAYS = 1095;

export const hashTexts = (salt: Uint8Array, texts: string): string =>
  createHash('sha256').update(salt).update(texts).digest('hex');

/** Takes the erasable texts out of a detail and puts a salted hash of them in their place. */
function separateTexts(detail: AuditEntry['detail']) {
  const fields = Object.entries(detail);
  const erasable = fields.filter(([name, value]) => ERASABLE.has(name) && typeof value === 'string');
  if (erasable.length === 0) return { kept: detail, salt: null, texts: null };
  const kept = fields.filter((field) => !erasable.includes(field));
  const salt = randomBytes(16);
  const texts = JSON.stringify(Object.fromEntries(erasable));
  return { kept: { ...Object.fromEntries(kept), textsHash: hashTexts(salt, texts) }, salt, texts };
}

/**
 * Writes an entry and seals it. If the database cannot sign, the entry has no seal, and a verification reports that.
 */
export async function recordAudit(
  tx: Queryable,
  { actor, action, subject, detail, address = null }: AuditEntry,
): Promise<void> {
  const { kept, salt, texts } = separateTexts({ ...detail, ...notes.get(tx) });
  const link = await requireOne(tx, RECORD_AUDIT, [actor, action, subject, JSON.stringify(kept), address, salt, texts]);
  if (tx.sign) await storeSeal(tx, link.chainNo, await sealOf(tx.sign, link));
}

/** Fields that are added to the detail of a transaction's entries. */
const notes = new WeakMap<Queryable, AuditEntry['detail']>();

/** Adds these fields to the detail of every later entry of the transaction. */
export function noteSecondPerson(tx: Queryable, note: AuditEntry['detail']): void {
  notes.set(tx, note);
}

/** Returns the number of the latest entry in the chain. The trigger gives every later entry a higher number. */
export const findLatestChainNo: Query<[], number> = declareRequire({
  text: 'select chain_no as "chainNo" from audit_head',
  parameters: [],
  columns: columns({ chainNo: 'bigint' }),
  value: ({ chainNo }) => chainNo,
});

/**
 * Returns this transaction's entries with a higher number than the given one, without their erasable texts. Does not
 * compare ids, because a database writer can add an entry with the highest id, which would hide all later entries.
 */
export const findOwnEntries = declareList({
  text: `select action, subject, detail - 'textsHash' as detail from audit_log
     where chain_no > $1 and xmin = pg_current_xact_id()::xid order by chain_no`,
  parameters: ['bigint'],
  columns: columns({ action: 'text', subject: 'text', detail: column<AuditEntry['detail']>('jsonb') }),
});

export type AuditRecord = RowOf<typeof LIST_AUDIT>;

const LIST_AUDIT = statement({
  text: `select audit_id::text as "auditId", ${shanghaiText('at')} as at,
       actor, address, action, subject, audit_detail(audit_log) as detail
     from audit_log where ($1::text is null or subject = $1) and ($3::text is null or actor = $3)
       and ($4::text is null or action = $4) and ($5::bigint is null or audit_id < $5)
     order by audit_id desc limit $2`,
  parameters: ['text', 'bigint', 'text', 'text', 'bigint'],
  columns: columns({
    auditId: 'text',
    at: 'text',
    actor: 'text',
    /** The client's address, if the action was done in the console. */
    address: 'text?',
    action: 'text',
    subject: 'text',
    detail: column<AuditEntry['detail']>('jsonb'),
  }),
});

/** Returns entries, newest first: of one subject, such as an app id or a product code, or of all subjects. */
export async function listAudit(
  { database }: Operator,
  { subject, limit = 50 }: { readonly subject?: string; readonly limit?: number },
): Promise<AuditRecord[]> {
  requireInteger('the limit', limit, 1, 1000);
  return database.query(LIST_AUDIT, [subject ?? null, limit, null, null, null]);
}

interface ListAuditPageInput extends PageInput {
  readonly subject?: string | undefined;
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
}

/** Returns a page of entries, newest first. */
export async function listAuditPage({ database }: Operator, { subject, actor, action, ...page }: ListAuditPageInput) {
  const { rows, nextCursor } = await readPage<AuditRecord, readonly [number]>(
    'audit',
    page,
    [0],
    (after, limit) =>
      database.query(LIST_AUDIT, [subject ?? null, limit, actor ?? null, action ?? null, after?.[0] ?? null]),
    ({ auditId }) => [Number(auditId)],
  );
  return { entries: rows, nextCursor };
}
