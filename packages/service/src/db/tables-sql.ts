import type { Queryable } from './database.js';

/** What a copy is made of, as PostgreSQL's catalogs tell it: nothing here has to be told about a new table. */
export interface Table {
  readonly name: string;
  /** Those that are stored, in their order. */
  readonly columns: readonly string[];
  readonly hasTriggers: boolean;
}

/** What tells which migrations there were belongs to the schema. */
const NOT_DATA = 'schema_migrations';

/** Those that others refer to come first. */
export async function listTables(db: Queryable): Promise<Table[]> {
  const tables = await db.query<Table>(
    `select c.relname as name,
       (select array_agg(a.attname::text order by a.attnum) from pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as columns,
       exists (select from pg_trigger t where t.tgrelid = c.oid and not t.tgisinternal) as "hasTriggers"
     from pg_class c
     where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
       and c.relname <> $1
     order by c.relname`,
    [NOT_DATA],
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
     where c.relkind = 'r' and c.relispartition and c.relnamespace = current_schema()::regnamespace order by c.relname`,
  );
}

export interface Sequence {
  readonly name: string;
  /** As text: it may be beyond 2^53. */
  readonly lastValue: string;
  readonly isCalled: boolean;
}

/** Sequences know nothing of transactions: read last, each is beyond every number in the rows that were read before. */
export async function listSequences(db: Queryable): Promise<Sequence[]> {
  const names = await db.query<{ name: string }>(
    `select relname as name from pg_class where relkind = 'S' and relnamespace = current_schema()::regnamespace
     order by relname`,
  );
  const sequences: Sequence[] = [];
  for (const { name } of names) {
    const [row] = await db.query<Omit<Sequence, 'name'>>(
      `select last_value::text as "lastValue", is_called as "isCalled" from ${identifier(name)}`,
    );
    if (row) sequences.push({ name, ...row });
  }
  return sequences;
}

export async function setSequence(db: Queryable, { name, lastValue, isCalled }: Sequence): Promise<void> {
  await db.query('select setval($1::regclass, $2::bigint, $3)', [identifier(name), lastValue, isCalled]);
}

export interface LaggingSequence {
  readonly name: string;
  /** What it would give next, and what there is already. */
  readonly next: string;
  readonly highest: string;
}

/** Numbers that are given out by a sequence of their own, and not by the column's. */
const NUMBERED = [
  { sequence: 'order_numbers', table: 'orders', column: 'order_no' },
  { sequence: 'agreement_numbers', table: 'agreements', column: 'agreement_id' },
  { sequence: 'event_numbers', table: 'events', column: 'event_no' },
];

/** Sequences that would give a number again which a row has. */
export async function findLaggingSequences(db: Queryable): Promise<LaggingSequence[]> {
  const identities = await db.query<{ sequence: string; table: string; column: string }>(
    `select s.relname as sequence, c.relname as table, a.attname as column
     from pg_attribute a join pg_class c on c.oid = a.attrelid
       join pg_class s on s.oid = pg_get_serial_sequence(quote_ident(c.relname), a.attname)::regclass
     where a.attidentity <> '' and c.relnamespace = current_schema()::regnamespace and not c.relispartition
     order by s.relname`,
  );
  const lagging: LaggingSequence[] = [];
  for (const { sequence, table, column } of [...NUMBERED, ...identities]) {
    const [row] = await db.query<Omit<LaggingSequence, 'name'>>(
      `select n.next::text as next, m.highest::text as highest
       from (select s.last_value + case when s.is_called then q.seqincrement else 0 end as next
             from ${identifier(sequence)} s, pg_sequence q where q.seqrelid = $1::regclass) n,
         (select max(${identifier(column)}) as highest from ${identifier(table)}) m
       where m.highest >= n.next`,
      [identifier(sequence)],
    );
    if (row) lagging.push({ name: sequence, ...row });
  }
  return lagging;
}

/**
 * How many numbers are left out after a restore, in steps of the sequence: more than can have been given out since the copy
 * was made. Only numbers that are known outside: to institutions, which take one that they know for the same debit, and to
 * channels, which pass over an event that they know.
 */
const SKIPPED = [
  { name: 'order_numbers', steps: 10_000 }, // of a thousand each
  { name: 'agreement_numbers', steps: 10_000_000 },
  { name: 'event_numbers', steps: 10_000_000 },
];

export interface SkippedNumbers {
  readonly name: string;
  readonly from: string;
  readonly to: string;
}

export async function skipNumbers(tx: Queryable): Promise<SkippedNumbers[]> {
  const skipped: SkippedNumbers[] = [];
  for (const { name, steps } of SKIPPED) {
    const [row] = await tx.query<Omit<SkippedNumbers, 'name'>>(
      `select s.last_value::text as from,
         setval($1::regclass, s.last_value + $2::bigint * q.seqincrement)::text as to
       from ${identifier(name)} s, pg_sequence q where q.seqrelid = $1::regclass`,
      [name, steps],
    );
    if (row) skipped.push({ name, ...row });
  }
  return skipped;
}

export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
