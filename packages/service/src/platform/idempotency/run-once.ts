import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { CODES, Rejection } from '@perennial/wire';
import type { Answer } from '../answers/answer.js';
import { type Queryable, sqlState } from '../db/database.js';
import type { Caller } from '../db/sharing/caller.js';
import {
  endLease,
  findIdempotencyRow,
  type IdempotencyId,
  type IdempotencyRow,
  insertAnswer,
  insertRunningRow,
  type StoredAnswer,
  takeOverLease,
} from './idempotency-sql.js';

/**
 * Lets a write action store its answer together with its effects. An action with one transaction calls `finish` in it.
 * An action that calls another system between two transactions calls `begin` in the first, and `finish` in the second.
 * `begin` stores the name of the action's subject, such as an order. If the process dies between the two transactions,
 * a resend receives that name as `interrupted` and continues.
 */
export interface IdempotentRun {
  readonly interrupted: string | undefined;
  /**
   * The idempotency row, for actions that write it themselves, in a statement shared by several requests. Undefined if
   * the request has no key.
   */
  readonly row: IdempotentRow | undefined;
  begin(tx: Queryable, subject: string): Promise<void>;
  finish(tx: Queryable, answer: Answer): Promise<Answer>;
}

/**
 * The idempotency row of an action that inserts it itself: as RUNNING, or with the answer as DONE or DESCRIBED. The
 * action then calls `begun` or `finished`. It throws `new KeyTaken()` if the insert violates the unique key.
 */
export interface IdempotentRow extends IdempotencyId {
  readonly leaseSeconds: number;
  begun(): void;
  finished(): void;
}

export interface IdempotentRequest {
  readonly database: Queryable;
  readonly caller: Caller;
  readonly channelId: number;
  readonly key: string | undefined;
  readonly path: string;
  readonly bodySha256: Buffer;
  /** Returns the hash of the body's meaning. Throws a Rejection if an encrypted field is unreadable. */
  readonly meaning: () => Buffer;
  readonly known: IdempotencyRow | undefined;
}

export interface IdempotencyOptions {
  readonly waitMs?: number;
  readonly leaseSeconds?: number;
}

/** Thrown inside an action's transaction if a different request has the key. Rolls back the action's effects. */
export class KeyTaken extends Error {}

const RUN_WITHOUT_KEY: IdempotentRun = {
  interrupted: undefined,
  row: undefined,
  begin: async () => undefined,
  finish: async (_tx, answer) => answer,
};

/**
 * An entry in `running`. `run` is cleared when the request ends, because V8 keeps deleted Map entries alive (see
 * `LinkedList`).
 */
interface Running {
  run: Promise<Answer | undefined>;
}
const OVER = Promise.resolve(undefined);

const POLL_MS = 100;

/**
 * How often a request waits for another node's uncommitted row. Each wait lasts lock_timeout, so all waits together
 * take about 10 s.
 */
const LOCK_WAITS = 2;

export function createIdempotentRunner({ waitMs = 10_000, leaseSeconds = 30 }: IdempotencyOptions = {}) {
  /** Requests in progress on this node. A second request with the same key waits for the first without a connection. */
  const running = new Map<string, Running>();

  return async function runOnce(
    request: IdempotentRequest,
    work: (once: IdempotentRun) => Promise<Answer>,
  ): Promise<Answer> {
    const { database, caller, key } = request;
    if (key === undefined) return work(RUN_WITHOUT_KEY);
    const { channelId, path, bodySha256, meaning } = request;
    const id: IdempotencyId = { channelId, key, path, bodySha256, meaning, owner: randomUUID() };
    const name = `${id.channelId} ${key}`;
    const allowance = createWaitAllowance(waitMs);
    const orInProgress = createLockWaits(LOCK_WAITS);
    try {
      for (let row = request.known; ; row = await findIdempotencyRow(database, id.channelId, key)) {
        const twin = running.get(name);
        if (twin) {
          await caller.waitOutside(() => allowance.wait(twin.run));
          continue;
        }
        if (row) {
          if (!isSameRequest(row, request)) throw new Rejection('IDEMPOTENCY_CONFLICT');
          if (row.state !== 'RUNNING') return replay(row);
          if (row.leased) {
            await caller.waitOutside(() => allowance.wait(delay(POLL_MS)));
            continue;
          }
        }
        const own: Running = { run: attempt(request, row ? keepFirstBody(id, row) : id, row, work, orInProgress) };
        running.set(name, own);
        // Undefined if a request on another node had the key. The next iteration reads that request's row.
        const answer = await own.run.finally(() => {
          running.delete(name);
          own.run = OVER;
        });
        if (answer) return answer;
      }
    } finally {
      allowance.end();
    }
  };

  async function attempt(
    { database, caller }: IdempotentRequest,
    id: IdempotencyId,
    interrupted: IdempotencyRow | undefined,
    work: (once: IdempotentRun) => Promise<Answer>,
    orInProgress: ReturnType<typeof createLockWaits>,
  ): Promise<Answer | undefined> {
    if (interrupted && !(await takeOverLease(database, id, leaseSeconds))) return undefined;
    if (interrupted) caller.markBegun();
    let begun = interrupted !== undefined;
    let finished = false;
    const once: IdempotentRun = {
      interrupted: interrupted?.subject ?? undefined,
      row: {
        channelId: id.channelId,
        key: id.key,
        path: id.path,
        bodySha256: id.bodySha256,
        meaning: id.meaning,
        owner: id.owner,
        leaseSeconds,
        begun: () => {
          begun = true;
        },
        finished: () => {
          finished = true;
        },
      },
      async begin(tx, subject) {
        if (!(await orInProgress(insertRunningRow(tx, id, subject, leaseSeconds)))) throw new KeyTaken();
        begun = true;
      },
      async finish(tx, answer) {
        if (!(await orInProgress(insertAnswer(tx, id, toStoredAnswer(answer))))) throw new KeyTaken();
        finished = true;
        return answer;
      },
    };
    try {
      const answer = await work(once);
      if (!finished) throw new Error(`${id.path} answered without recording the answer`);
      return answer;
    } catch (error) {
      if (error instanceof KeyTaken) return undefined;
      if (error instanceof Rejection && error.result.isOutcome) {
        const answer = { code: error.result.code, message: error.message, data: 'null' };
        return (await insertAnswer(database, id, toStoredAnswer(answer))) ? answer : undefined;
      }
      // Ends the lease, so that a resend can continue at once. Does not await this, because the database may be down.
      if (begun) void endLease(database, id).catch(() => undefined);
      throw error;
    }
  }
}

/** Compares the bytes first: their hash costs nothing, and needs no key that may have been replaced meanwhile. */
function isSameRequest(row: IdempotencyRow, { path, bodySha256, meaning }: IdempotentRequest): boolean {
  if (row.path !== path) return false;
  return row.bodySha256.equals(bodySha256) || row.meaning?.equals(meaning()) === true;
}

/** Returns the id with which interrupted work continues: its row keeps the hashes of the first request. */
const keepFirstBody = (id: IdempotencyId, { bodySha256, meaning }: IdempotencyRow): IdempotencyId => ({
  ...id,
  bodySha256,
  meaning: () => meaning,
});

function replay(row: IdempotencyRow): Answer {
  const outcome = { code: row.code ?? CODES.SUCCESS.code, message: row.message ?? '', replayed: true };
  const data = row.data ?? 'null';
  return row.state === 'DESCRIBED' ? { ...outcome, description: JSON.parse(data) } : { ...outcome, data };
}

/** Converts an answer for storage: stores the description of its data if there is one, otherwise the data. */
function toStoredAnswer(answer: Answer): StoredAnswer {
  const { code, message } = answer;
  if ('description' in answer) return { state: 'DESCRIBED', code, message, data: JSON.stringify(answer.description) };
  if (typeof answer.data !== 'string') throw new Error('an answer in pieces must have a description to be stored');
  return { state: 'DONE', code, message, data: answer.data };
}

/** Handles a lock timeout on another node's uncommitted row: restarts the work, or rejects when no wait is left. */
function createLockWaits(left: number) {
  return async function orInProgress<T>(insert: Promise<T>): Promise<T> {
    try {
      return await insert;
    } catch (error) {
      if (sqlState(error) !== '55P03') throw error;
      left -= 1;
      throw left > 0 ? new KeyTaken() : new Rejection('IDEMPOTENCY_IN_PROGRESS');
    }
  };
}

/** Limits the total time that a request waits, counted from its first wait. */
function createWaitAllowance(waitMs: number) {
  let timer: NodeJS.Timeout | undefined;
  let over: Promise<never> | undefined;
  return {
    async wait(event: Promise<unknown>): Promise<void> {
      over ??= new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Rejection('IDEMPOTENCY_IN_PROGRESS')), waitMs);
      });
      // Ignores an error of the awaited request, which is reported to that request's own caller.
      await Promise.race([event.catch(() => undefined), over]);
    },
    end: () => clearTimeout(timer),
  };
}
