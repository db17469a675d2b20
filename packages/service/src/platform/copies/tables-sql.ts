import type { Queryable } from '../db/database.js';
import { readCreatedNames } from '../schema/migration-file.js';

/**
 * The tables of a copy, read from the migrations and from PostgreSQL's catalogs: a new table needs no change here. Other
 * tables in the same schema are neither copied nor touched.
 */
export interface Table {
  readonly name: string;
  /** The stored columns, in their order. */
  readonly columns: readonly string[];
  readonly hasTriggers: boolean;
}

/** Tables that others refer to come first. schema_migrations is not among them: it belongs to the schema. */
export async function listTables(db: Queryable): Promise<Table[]> {
  const tables = await db.query<Table>(
    `select c.relname as name,
       (select array_agg(a.attname::text order by a.attnum) from pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as columns,
       exists (select from pg_trigger t where t.tgrelid = c.oid and not t.tgisinternal) as "hasTriggers"
     from pg_class c
     where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
       and c.relname = any($1)
     order by c.relname`,
    [await readCreatedNames()],
  );
  const references = await db.query<{ from: string; to: string }>(
    `select f.relname as from, t.relname as to from pg_constraint k
       join pg_class f on f.oid = k.conrelid join pg_class t on t.oid = k.confrelid
     where k.contype = 'f' and k.connamespace = current_schema()::regnamespace and k.conrelid <> k.confrelid`,
  );
  const sorted: Table[] = [];
  const visit = (table: Table) => {
    if (sorted.includes(table)) return;
    for (const { from, to } of references) {
      const referred = from === table.name ? tables.find(({ name }) => name === to) : undefined;
      if (referred) visit(referred);
    }
    sorted.push(table);
  };
  tables.forEach(visit);
  return sorted;
}

export interface Partition {
  readonly parent: string;
  readonly name: string;
  /** As it stands in `create table … partition of`. */
  readonly bound: string;
}

export async function listPartitions(db: Queryable): Promise<Partition[]> {
  return db.query(
    `select p.relname as parent, c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bound
     from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
     where c.relkind = 'r' and c.relispartition and c.relnamespace = current_schema()::regnamespace
       and p.relname = any($1)
     order by c.relname`,
    [await readCreatedNames()],
  );
}

export interface Sequence {
  readonly name: string;
  /** As text: it may be beyond 2^53. */
  readonly lastValue: string;
  readonly isCalled: boolean;
}

/** Sequences are not part of transactions: read last, each is beyond every number in the rows that were read before. */
export async function listSequences(db: Queryable): Promise<Sequence[]> {
  const names = await db.query<{ name: string }>(
    `select s.relname as name from pg_class s
     where s.relkind = 'S' and s.relnamespace = current_schema()::regnamespace
       and (s.relname = any($1) or exists (
         select from pg_depend d join pg_class t on t.oid = d.refobjid
         where d.classid = 'pg_class'::regclass and d.objid = s.oid and d.refclassid = 'pg_class'::regclass
           and d.deptype in ('a', 'i') and t.relnamespace = s.relnamespace and t.relname = any($1)))
     order by s.relname`,
    [await readCreatedNames()],
  );
  const sequences: Sequence[] = [];
  for (const { name } of names) {
    const [row] = await db.query<Omit<Sequence, 'name'>>(
      `select last_value::text as "lastValue", is_called as "isCalled" from ${quoteIdentifier(name)}`,
    );
    if (row) sequences.push({ name, ...row });
  }
  return sequences;
}

/** Unlike setval it is undone with its transaction; until that ends, whoever takes a number waits. */
export async function setSequence(tx: Queryable, { name, lastValue, isCalled }: Sequence): Promise<void> {
  const [row] = await tx.query<{ next: string }>(
    `select ($2::bigint + case when $3 then seqincrement else 0 end)::text as next
     from pg_sequence where seqrelid = $1::regclass`,
    [quoteIdentifier(name), lastValue, isCalled],
  );
  if (!row) throw new Error(`there is no sequence ${name}`);
  await tx.query(`alter sequence ${quoteIdentifier(name)} restart with ${BigInt(row.next)}`);
}

export interface LaggingSequence {
  readonly name: string;
  /** The number that it would give next, and the highest that a row has. */
  readonly next: string;
  readonly highest: string;
}

/** Numbers that do not come from the sequence of an identity column. */
const NUMBER_SEQUENCES = [
  { sequence: 'order_numbers', table: 'orders', column: 'order_no' },
  { sequence: 'agreement_numbers', table: 'agreements', column: 'agreement_id' },
  { sequence: 'event_numbers', table: 'events', column: 'event_no' },
];

/** Sequences that would give out a number that a row has already. */
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
       from (select s.last_value + case when s.is_called then q.seqincrement else 0 end as next
             from ${quoteIdentifier(sequence)} s, pg_sequence q where q.seqrelid = $1::regclass) n,
         (select max(${quoteIdentifier(column)}) as highest from ${quoteIdentifier(table)}) m
       where m.highest >= n.next`,
      [quoteIdentifier(sequence)],
    );
    if (row) lagging.push({ name: sequence, ...row });
  }
  return lagging;
}

/**
 * How many numbers are skipped after a restore, in steps of the sequence: more than can have been given out since the copy
 * was made. Only numbers that other systems know: an institution takes a known number for the same debit, and a channel
 * ignores an event with a known number.
 */
const SKIPPED_STEPS = [
  { name: 'order_numbers', steps: 10_000 }, // of a thousand each
  { name: 'agreement_numbers', steps: 10_000_000 },
  { name: 'event_numbers', steps: 10_000_000 },
];

export interface SkippedNumbers {
  readonly name: string;
  /** The last one that was given out. */
  readonly from: string;
  readonly to: string;
}

/** For sequences that are not behind the numbers of the rows. */
export async function skipNumbers(tx: Queryable): Promise<SkippedNumbers[]> {
  const skipped: SkippedNumbers[] = [];
  for (const { name, steps } of SKIPPED_STEPS) {
    const [row] = await tx.query<Omit<SkippedNumbers, 'name'>>(
      `select n.last::text as from, (n.last + $2::bigint * n.seqincrement)::text as to
       from (select s.last_value - case when s.is_called then 0 else q.seqincrement end as last, q.seqincrement
             from ${quoteIdentifier(name)} s, pg_sequence q where q.seqrelid = $1::regclass) n`,
      [name, steps],
    );
    if (!row) continue;
    await setSequence(tx, { name, lastValue: row.to, isCalled: true });
    skipped.push({ name, ...row });
  }
  return skipped;
}

export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
