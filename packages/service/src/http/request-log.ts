import type { Logger } from 'pino';
import { type LoggedRequest, storeRequests } from '../catalog/channels/request-log-sql.js';
import type { Clock } from '../platform/clock.js';
import type { Database } from '../platform/db/database.js';
import { createMinuteLimit } from './answers/minute-limit.js';

export interface RequestLogDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Logger;
  /** Returns true if this node knows the channel. For unknown app ids fewer entries may wait (MAX_STRANGERS). */
  readonly isKnown: (appId: string) => boolean;
  readonly countDropped: (why: DroppedBecause, count: number) => void;
}

/**
 * `full`: the queue was full. `failed`: the database could not store the entries. `refused`: too many calls were refused
 * before their admission.
 */
export const DROPPED_BECAUSE = ['full', 'failed', 'refused'] as const;
export type DroppedBecause = (typeof DROPPED_BECAUSE)[number];

const BATCH = 500;
const MAX_WAIT_MS = 1_000;
/**
 * The maximum number of waiting entries. It is enough for some seconds at full load while the database is unreachable.
 * The entries take about ten megabytes, or thirty with the longest request ids.
 */
const MAX_WAITING = 20_000;
/**
 * The maximum number of waiting entries whose app id this node does not know. It is low, because anybody can invent app
 * ids.
 */
const MAX_STRANGERS = 1_000;
const MAX_REASON_LENGTH = 500;
/**
 * The entries per minute of calls that were refused before their admission, of one app id and of all. Each link to a
 * redemption page shows an app id, so anybody can make such calls, and an entry has up to a kilobyte.
 */
const REFUSED_OF_APP_ID = 60;
const REFUSED_OF_ALL = 600;
const ALL = '';

/**
 * Records the calls of channels, so that operators can see why a call was refused. Writes the entries after the answers
 * were sent, one batch at a time. Requests never wait for the log or fail because of it: entries that cannot be written
 * are dropped and counted.
 */
export function createRequestLog({ database, clock, log, isKnown, countDropped }: RequestLogDeps) {
  const refusedOfAppId = createMinuteLimit(REFUSED_OF_APP_ID, clock);
  const refusedOfAll = createMinuteLimit(REFUSED_OF_ALL, clock);
  const waiting: WaitingRequest[] = [];
  let strangers = 0;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;
  let isFailing = false;

  /**
   * Writes the entries that are waiting now. Entries that arrive during the run wait for the next run. If a batch
   * fails, its entries are dropped, and the entries after it also wait for the next run.
   */
  async function writeWaiting(): Promise<void> {
    isFailing = false;
    for (let left = waiting.length; left > 0; left -= BATCH) {
      const batch = waiting.splice(0, BATCH);
      strangers -= batch.filter(({ isStranger }) => isStranger).length;
      try {
        await storeRequests(
          database,
          batch.map(({ request }) => request),
        );
      } catch (err) {
        isFailing = true;
        countDropped('failed', batch.length);
        log.warn({ err, cause: 'log of requests' }, 'could not write to the request log');
        return;
      }
    }
  }

  function write(): void {
    clearTimeout(timer);
    timer = undefined;
    writing ??= writeWaiting().finally(() => {
      writing = undefined;
      schedule();
    });
  }

  function schedule(): void {
    if (writing || waiting.length === 0) return;
    if (waiting.length >= BATCH && !isFailing) write();
    else timer ??= setTimeout(write, MAX_WAIT_MS).unref();
  }

  return {
    add(request: LoggedRequest, isAdmitted = true): void {
      if (!isAdmitted) {
        if (refusedOfAppId.isReached(request.appId) || refusedOfAll.isReached(ALL)) {
          countDropped('refused', 1);
          return;
        }
        refusedOfAppId.count(request.appId);
        refusedOfAll.count(ALL);
      }
      const isStranger = !isKnown(request.appId);
      if (waiting.length >= MAX_WAITING || (isStranger && strangers >= MAX_STRANGERS)) {
        countDropped('full', 1);
        return;
      }
      if (isStranger) strangers += 1;
      waiting.push({ request: toStorable(request), isStranger });
      schedule();
    },
    async stop(): Promise<void> {
      while (waiting.length > 0 || writing) {
        write();
        await writing;
        // If the database is unreachable, a stopping node drops the remaining entries instead of waiting again for each
        // batch.
        if (isFailing) countDropped('failed', waiting.splice(0).length);
      }
      clearTimeout(timer);
    },
  };
}

export type RequestLog = ReturnType<typeof createRequestLog>;

interface WaitingRequest {
  readonly request: LoggedRequest;
  readonly isStranger: boolean;
}

/**
 * Cuts a long reason, and removes NUL, which PostgreSQL cannot store: the reason may repeat a field name with any
 * characters.
 */
function toStorable(request: LoggedRequest): LoggedRequest {
  const { reason } = request;
  return reason === null ? request : { ...request, reason: reason.replaceAll('\0', '').slice(0, MAX_REASON_LENGTH) };
}
