import type { NumberRange } from '../cells.js';
import type { Queryable, Transactional } from './queryable.js';
import { statement } from './statement.js';

/** Sequences, and the columns that store their numbers. Each column is the first of an index. */
const SEQUENCES: Readonly<Record<string, { readonly table: string; readonly column: string }>> = {
  order_numbers: { table: 'orders', column: 'order_no' },
  agreement_numbers: { table: 'agreements', column: 'agreement_id' },
  event_numbers: { table: 'events', column: 'event_no' },
  channels_channel_id_seq: { table: 'channels', column: 'channel_id' },
  audit_log_audit_id_seq: { table: 'audit_log', column: 'audit_id' },
  reconciliation_differences_difference_no_seq: { table: 'reconciliation_differences', column: 'difference_no' },
};

interface Lagging {
  readonly name: string;
  /** The number to set the sequence to, so that its next number is above all numbers in use. */
  readonly used: string;
}

/**
 * Moves lagging sequences above the numbers in use, and returns their names. A sequence lags if a restore left it out,
 * or if a table was filled by hand. Costs one statement if no sequence lags. Otherwise locks all sequences until they
 * are moved. Never moves a sequence back.
 */
export async function moveLaggingSequences(database: Transactional): Promise<string[]> {
  if ((await findLagging(database, Object.keys(SEQUENCES))).length === 0) return [];
  return database.transaction((tx) => moveLaggingSequencesIn(tx));
}

const SET_SEQUENCE = statement({
  text: 'select setval($1::text::regclass, $2)',
  parameters: ['text', 'bigint'],
});

/** Like `moveLaggingSequences`, but within the caller's transaction. */
export async function moveLaggingSequencesIn(tx: Queryable): Promise<string[]> {
  const moved: string[] = [];
  for (const name of Object.keys(SEQUENCES)) {
    await tx.query(LOCK_SEQUENCE, [name]);
    const [behind] = await findLagging(tx, [name]);
    if (!behind) continue;
    await tx.query(SET_SEQUENCE, [name, behind.used]);
    moved.push(name);
  }
  return moved;
}

/** Locks a sequence, so that nobody reads it or takes numbers. */
export const LOCK_SEQUENCE = statement({ text: 'select lock_sequence($1)', parameters: ['text'] });

/** Restricts the sequence of an unused table to a range, and begins at its start. */
export async function restrictSequence(tx: Queryable, { sequence, min, max, start }: NumberRange): Promise<void> {
  await tx.query(
    `alter sequence ${sequence} minvalue ${min} maxvalue ${max} start with ${start} restart with ${start}`,
  );
}

/**
 * Returns the sequences that lag. Order numbers come in blocks, so the sequence of order numbers advances by the size
 * of a block. Ignores rows of other cells, whose numbers this sequence never gives out.
 */
const findLagging = (db: Queryable, names: readonly string[]): Promise<Lagging[]> =>
  db.query<Lagging>(
    names
      .map((name) => {
        const { table, column } = SEQUENCES[name] ?? { table: '', column: '' };
        return `select '${name}' as name, (m.used / s.seqincrement * s.seqincrement)::text as used
          from pg_sequence s, ${name} q,
            lateral (select max(${column}) as used from ${table} where ${column} between s.seqmin and s.seqmax) m
          where s.seqrelid = '${name}'::regclass
            and m.used >= q.last_value + case when q.is_called then s.seqincrement else 0 end`;
      })
      .join(' union all '),
  );
