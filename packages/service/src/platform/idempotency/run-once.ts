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
 * By this a write action records its answer together with its effects. An action of one transaction calls `finish` in it.
 * An action that calls another system between two transactions calls `begin` in the first, with the name of what it is
 * working on, and `finish` in the second; if the process dies in between, the resend gets that name as `interrupted` and
 * goes on from there.
 */
export interface IdempotentRun {
  readonly interrupted: string | undefined;
  /** For an action that writes the row itself, in a statement that several requests share. Undefined when there is no key. */
  readonly row: IdempotentRow | undefined;
  begin(tx: Queryable, subject: string): Promise<void>;
  finish(tx: Queryable, answer: Answer): Promise<Answer>;
}

/** The action inserts it RUNNING, or with its answer (DONE or DESCRIBED), and says so here; a unique violation on it is `new KeyTaken()`. */
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
  /** The row that admission found under the key. */
  readonly known: IdempotencyRow | undefined;
}

export interface IdempotencyOptions {
  readonly waitMs?: number;
  readonly leaseSeconds?: number;
}

/** Thrown inside an action's transaction when another request has the key: it rolls the effects back. */
export class KeyTaken extends Error {}

const RUN_WITHOUT_KEY: IdempotentRun = {
  interrupted: undefined,
  row: undefined,
  begin: async () => undefined,
  finish: async (_tx, answer) => answer,
};

/** What the map of running requests has of one. Emptied in the end, since a Map keeps what it had for a while (`LinkedList`). */
interface Running {
  run: Promise<Answer | undefined>;
}
const OVER = Promise.resolve(undefined);

const POLL_MS = 100;

/**
 * How often the row of another node's transaction is waited for, each time as long as the database waits for a lock: together
 * some 10 s.
 */
const LOCK_WAITS = 2;

export function createIdempotentRunner({ waitMs = 10_000, leaseSeconds = 30 }: IdempotencyOptions = {}) {
  /** The requests of this node: a second one with the same key waits for the first without holding a connection. */
  const running = new Map<string, Running>();

  return async function runOnce(
    request: IdempotentRequest,
    work: (once: IdempotentRun) => Promise<Answer>,
  ): Promise<Answer> {
    const { database, caller, key } = request;
    if (key === undefined) return work(RUN_WITHOUT_KEY);
    const { channelId, path, bodySha256 } = request;
    const id: IdempotencyId = { channelId, key, path, bodySha256, owner: randomUUID() };
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
          if (row.path !== id.path || !row.bodySha256.equals(id.bodySha256))
            throw new Rejection('IDEMPOTENCY_CONFLICT');
          if (row.state !== 'RUNNING') return replay(row);
          if (row.leased) {
            await caller.waitOutside(() => allowance.wait(delay(POLL_MS)));
            continue;
          }
        }
        const own: Running = { run: attempt(request, id, row, work, orInProgress) };
        running.set(name, own);
        // `undefined`: another node's request had the key after all; what it answered is read in the next turn.
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
      // A resend need not wait until the lease is over, nor this caller for a database that may be away.
      if (begun) void endLease(database, id).catch(() => undefined);
      throw error;
    }
  }
}

function replay(row: IdempotencyRow): Answer {
  const outcome = { code: row.code ?? CODES.SUCCESS.code, message: row.message ?? '', replayed: true };
  const data = row.data ?? 'null';
  return row.state === 'DESCRIBED' ? { ...outcome, description: JSON.parse(data) } : { ...outcome, data };
}

/** What the row holds of an answer: the description of its data if there is one, else the data. */
function toStoredAnswer(answer: Answer): StoredAnswer {
  const { code, message } = answer;
  if ('description' in answer) return { state: 'DESCRIBED', code, message, data: JSON.stringify(answer.description) };
  if (typeof answer.data !== 'string') throw new Error('an answer in pieces has to be described to be stored');
  return { state: 'DONE', code, message, data: answer.data };
}

/**
 * The database waits up to lock_timeout for a row that another node's transaction has not committed yet. Then the work is
 * rolled back and begun again, until no wait is left.
 */
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

/** How long a whole request may wait, counted from its first wait. */
function createWaitAllowance(waitMs: number) {
  let timer: NodeJS.Timeout | undefined;
  let over: Promise<never> | undefined;
  return {
    async wait(event: Promise<unknown>): Promise<void> {
      over ??= new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Rejection('IDEMPOTENCY_IN_PROGRESS')), waitMs);
      });
      // An error of the first request is answered to its own caller.
      await Promise.race([event.catch(() => undefined), over]);
    },
    end: () => clearTimeout(timer),
  };
}
