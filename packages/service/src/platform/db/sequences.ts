import type { Queryable, Transactional } from './queryable.js';
import { columns, statement } from './statement.js';

/** What numbers are given out by a sequence, and where those that were used are: a column that an index begins with. */
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
  /** The last number of the sequence's own that is not above what is used. */
  readonly used: string;
}

/**
 * Moves each sequence above the numbers that are used, should it be behind: after a restore that left it out, say, or in a
 * copy whose tables were filled by hand. Their names are answered. Otherwise one statement is all it costs. No number is
 * given out while a sequence is moved, and it never goes back.
 */
export async function moveLaggingSequences(database: Transactional): Promise<string[]> {
  if ((await findLagging(database, Object.keys(SEQUENCES))).length === 0) return [];
  return database.transaction((tx) => moveLaggingSequencesIn(tx));
}

const SET_SEQUENCE = statement({
  text: 'select setval($1::text::regclass, $2)',
  parameters: ['text', 'bigint'],
});

/** The same as a part of a transaction. `among`: those that there are, in a schema of some time ago. */
export async function moveLaggingSequencesIn(tx: Queryable, among = Object.keys(SEQUENCES)): Promise<string[]> {
  const moved: string[] = [];
  for (const name of Object.keys(SEQUENCES)) {
    if (!among.includes(name)) continue;
    await lockSequence(tx, name);
    const [behind] = await findLagging(tx, [name]);
    if (!behind) continue;
    await tx.query(SET_SEQUENCE, [name, behind.used]);
    moved.push(name);
  }
  return moved;
}

const FIND_OWNER = statement({
  text: 'select quote_ident(pg_get_userbyid(relowner)) as owner from pg_class where oid = $1::text::regclass',
  parameters: ['text'],
  columns: columns<{ owner: string }>({ owner: 'text' }),
});

/**
 * Giving out a number waits for this, and so does looking at the sequence. It becomes what it is: other changes that change
 * nothing give it a new file, and whoever was just looking at the old one finds nothing there (XX001).
 */
async function lockSequence(tx: Queryable, name: string): Promise<void> {
  const [row] = await tx.query(FIND_OWNER, [name]);
  await tx.query(`alter sequence ${name} owner to ${row?.owner}`);
}

/** An order's number is one of a block, of as many as the sequence goes on by. */
const findLagging = (db: Queryable, names: readonly string[]): Promise<Lagging[]> =>
  db.query<Lagging>(
    names
      .map((name) => {
        const { table, column } = SEQUENCES[name] ?? { table: '', column: '' };
        return `select '${name}' as name, (m.used / s.seqincrement * s.seqincrement)::text as used
          from pg_sequence s, ${name} q, (select max(${column}) as used from ${table}) m
          where s.seqrelid = '${name}'::regclass
            and m.used >= q.last_value + case when q.is_called then s.seqincrement else 0 end`;
      })
      .join(' union all '),
  );
