import type { Queryable } from '../../platform/db/database.js';
import { LOCK_SEQUENCE } from '../../platform/db/sequences.js';
import { readCreatedNames } from '../../platform/schema/migration-file.js';

export interface LaggingSequence {
  readonly name: string;
  /** The next number that the sequence gives out. */
  readonly next: string;
  /** The highest number that a row has. */
  readonly highest: string;
}

/** Sequences that do not belong to an identity column, with the column that stores their numbers. */
const NUMBER_SEQUENCES = [
  { sequence: 'order_numbers', table: 'orders', column: 'order_no' },
  { sequence: 'agreement_numbers', table: 'agreements', column: 'agreement_id' },
  { sequence: 'event_numbers', table: 'events', column: 'event_no' },
];

/**
 * Returns sequences whose next number is at or below the highest number in use. Checks only tables that the migrations
 * create, because the service may not be allowed to read other tables.
 */
export async function findLaggingSequences(db: Queryable): Promise<LaggingSequence[]> {
  const identities = await db.query<{ sequence: string; table: string; column: string }>(
    `select s.relname as sequence, c.relname as table, a.attname as column
     from pg_attribute a join pg_class c on c.oid = a.attrelid
       join pg_class s on s.oid = pg_get_serial_sequence(quote_ident(c.relname), a.attname)::regclass
     where a.attidentity <> '' and c.relnamespace = current_schema()::regnamespace and c.relname = any($1)
     order by s.relname`,
    [await readCreatedNames()],
  );
  const lagging: LaggingSequence[] = [];
  for (const { sequence, table, column } of [...NUMBER_SEQUENCES, ...identities]) {
    const [row] = await db.query<Omit<LaggingSequence, 'name'>>(
      `select n.next::text as next, m.highest::text as highest
       from (select s.last_value + case when s.is_called then q.seqincrement else 0 end as next, q.seqmin, q.seqmax
             from ${sequence} s, pg_sequence q where q.seqrelid = '${sequence}'::regclass) n,
         lateral (select max(${column}) as highest from ${table} where ${column} between n.seqmin and n.seqmax) m
       where m.highest >= n.next`,
    );
    if (row) lagging.push({ name: sequence, ...row });
  }
  return lagging;
}

/**
 * How far to advance each sequence after a restore: further than it has probably moved since the backup. Includes only
 * numbers that other systems know. An institution would take a reused number for the same debit, and a channel would
 * ignore an event with a reused number.
 */
const SKIPPED_STEPS = [
  { name: 'order_numbers', steps: 10_000 }, // a thousand numbers each
  { name: 'agreement_numbers', steps: 10_000_000 },
  { name: 'event_numbers', steps: 10_000_000 },
];

export interface SkippedNumbers {
  readonly name: string;
  /** The last number used. */
  readonly from: string;
  readonly to: string;
}

/**
 * Advances the sequences by SKIPPED_STEPS. The caller has first raised sequences that were behind the highest number of
 * a row.
 */
export async function skipNumbers(tx: Queryable): Promise<SkippedNumbers[]> {
  const skipped: SkippedNumbers[] = [];
  for (const { name, steps } of SKIPPED_STEPS) {
    await tx.query(LOCK_SEQUENCE, [name]);
    const [row] = await tx.query<Omit<SkippedNumbers, 'name'>>(
      `select n.last::text as from, setval('${name}', n.last + $1::bigint * n.seqincrement)::text as to
       from (select s.last_value - case when s.is_called then 0 else q.seqincrement end as last, q.seqincrement
             from ${name} s, pg_sequence q where q.seqrelid = '${name}'::regclass) n`,
      [steps],
    );
    if (row) skipped.push({ name, ...row });
  }
  return skipped;
}
