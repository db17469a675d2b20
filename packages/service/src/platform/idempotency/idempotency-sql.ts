import { IDEMPOTENCY_WINDOW_MS } from '@perennial/wire';
import { column, columns, type Queryable, queryOne, type RowOf, statement } from '../db/database.js';

const WINDOW_SECONDS = IDEMPOTENCY_WINDOW_MS / 1000;

export type IdempotencyRow = RowOf<typeof FIND_IDEMPOTENCY_ROW>;

/** The columns to select, in a query that names the table `i`. */
export const IDEMPOTENCY_COLUMNS = `i.path, i.body_sha256 as "bodySha256", i.meaning, i.state,
  coalesce(i.lease_until > now(), false) as leased, i.subject, i.code, i.message, i.data`;

export interface IdempotencyId {
  readonly channelId: number;
  readonly key: string;
  readonly path: string;
  readonly bodySha256: Buffer;
  /** Returns the hash that equal requests share. Null for a request whose row an earlier version has written. */
  readonly meaning: () => Buffer | null;
  /**
   * The id of one execution of the request. An execution changes a row with a different id only if the row or its lease
   * has expired.
   */
  readonly owner: string;
}

const FIND_IDEMPOTENCY_ROW = statement({
  name: 'find-idempotent-answer',
  text: `select ${IDEMPOTENCY_COLUMNS} from idempotency i
             where i.channel_id = $1 and i.key = $2 and i.created_at > now() - $3::integer * interval '1 s'`,
  parameters: ['bigint', 'text', 'integer'],
  columns: columns({
    path: 'text',
    bodySha256: 'bytea',
    /** The hash of the body's meaning. Null in rows of earlier versions. */
    meaning: 'bytea?',
    /**
     * RUNNING: no answer yet. DONE: `data` is the answer's data. DESCRIBED: `data` is the description from which the
     * answer's data is rendered.
     */
    state: column<'RUNNING' | 'DONE' | 'DESCRIBED'>('text'),
    /** True if the lease has not ended, by the database's clock. Used for RUNNING rows only. */
    leased: 'boolean',
    subject: 'text?',
    code: 'text?',
    message: 'text?',
    data: 'text?',
  }),
});

export async function findIdempotencyRow(
  db: Queryable,
  channelId: number,
  key: string,
): Promise<IdempotencyRow | undefined> {
  return queryOne(db, FIND_IDEMPOTENCY_ROW, [channelId, key, WINDOW_SECONDS]);
}

const INSERT_RUNNING = statement({
  name: 'insert-idempotent-running',
  text: `insert into idempotency as i (channel_id, key, path, body_sha256, meaning, state, owner, lease_until, subject)
             values ($1, $2, $3, $4, $9, 'RUNNING', $5, now() + $6::double precision * interval '1 s', $7)
             on conflict (channel_id, key) do update set path = excluded.path, body_sha256 = excluded.body_sha256,
               meaning = excluded.meaning, state = 'RUNNING', owner = excluded.owner, lease_until = excluded.lease_until,
               subject = excluded.subject, code = null, message = null, data = null, created_at = now()
             where i.owner = excluded.owner or i.created_at <= now() - $8::integer * interval '1 s'
             returning 1`,
  parameters: ['bigint', 'text', 'text', 'bytea', 'uuid', 'double precision', 'text', 'integer', 'bytea'],
});

/**
 * Inserts a RUNNING row, for work in two transactions. Returns false if another execution has the key. Expired rows
 * count as absent.
 */
export async function insertRunningRow(
  tx: Queryable,
  id: IdempotencyId,
  subject: string,
  leaseSeconds: number,
): Promise<boolean> {
  const rows = await tx.query(INSERT_RUNNING, [
    id.channelId,
    id.key,
    id.path,
    id.bodySha256,
    id.owner,
    leaseSeconds,
    subject,
    WINDOW_SECONDS,
    id.meaning(),
  ]);
  return rows.length === 1;
}

const TAKE_OVER_LEASE = statement({
  text: `update idempotency set owner = $3, lease_until = now() + $4::double precision * interval '1 s'
     where channel_id = $1 and key = $2 and state = 'RUNNING' and lease_until <= now() returning 1`,
  parameters: ['bigint', 'text', 'uuid', 'double precision'],
});

/** Takes over interrupted work. Returns false if another node is working on it, or has finished it. */
export async function takeOverLease(db: Queryable, id: IdempotencyId, leaseSeconds: number): Promise<boolean> {
  const rows = await db.query(TAKE_OVER_LEASE, [id.channelId, id.key, id.owner, leaseSeconds]);
  return rows.length === 1;
}

const END_LEASE = statement({
  text: `update idempotency set lease_until = now()
     where channel_id = $1 and key = $2 and owner = $3 and state = 'RUNNING'`,
  parameters: ['bigint', 'text', 'uuid'],
});

export async function endLease(db: Queryable, id: IdempotencyId): Promise<void> {
  await db.query(END_LEASE, [id.channelId, id.key, id.owner]);
}

export interface StoredAnswer {
  readonly state: 'DONE' | 'DESCRIBED';
  readonly code: string;
  readonly message: string;
  readonly data: string;
}

/**
 * Gives a row with a description an endless lease. Nodes of older versions do not know the state DESCRIBED: they take
 * the row for a running request and answer 409002, never the description (docs/decisions/0003).
 */
export const leaseUntil = (state: string) => `case when ${state} = 'DESCRIBED' then timestamptz 'infinity' end`;

const INSERT_ANSWER = statement({
  name: 'insert-idempotent-done',
  text: `insert into idempotency as i (channel_id, key, path, body_sha256, meaning, state, owner, code, message, data,
               lease_until)
             values ($1, $2, $3, $4, $11, $10, $5, $6, $7, $8, ${leaseUntil('$10')})
             on conflict (channel_id, key) do update set path = excluded.path, body_sha256 = excluded.body_sha256,
               meaning = excluded.meaning, state = excluded.state, lease_until = excluded.lease_until, code = excluded.code, message = excluded.message,
               data = excluded.data, owner = excluded.owner,
               created_at = case when i.owner = excluded.owner then i.created_at else now() end
             where (i.owner = excluded.owner and i.state = 'RUNNING')
                or i.created_at <= now() - $9::integer * interval '1 s'
             returning 1`,
  parameters: ['bigint', 'text', 'text', 'bytea', 'uuid', 'text', 'text', 'text', 'integer', 'text', 'bytea'],
});

/** Stores an answer. Returns false if a different request has the key; the caller must then roll back. */
export async function insertAnswer(tx: Queryable, id: IdempotencyId, answer: StoredAnswer): Promise<boolean> {
  const rows = await tx.query(INSERT_ANSWER, [
    id.channelId,
    id.key,
    id.path,
    id.bodySha256,
    id.owner,
    answer.code,
    answer.message,
    answer.data,
    WINDOW_SECONDS,
    answer.state,
    id.meaning(),
  ]);
  return rows.length === 1;
}
