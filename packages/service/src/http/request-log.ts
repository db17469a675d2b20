import type { Logger } from 'pino';
import { type LoggedRequest, storeRequests } from '../catalog/channels/request-log-sql.js';
import type { Database } from '../platform/db/database.js';

export interface RequestLogDeps {
  readonly database: Database;
  readonly log: Logger;
  /** Whether this node has met the channel: what others claim to be has less room. */
  readonly isKnown: (appId: string) => boolean;
  readonly countDropped: (why: DroppedBecause, count: number) => void;
}

/** `full`: more came than could be written. `failed`: the database did not take them. */
export const DROPPED_BECAUSE = ['full', 'failed'] as const;
export type DroppedBecause = (typeof DROPPED_BECAUSE)[number];

const BATCH = 500;
const MAX_WAIT_MS = 1_000;
/**
 * What a node that serves all it can puts here in seconds while the database is away: some ten megabytes, and thirty if every request
 * id is as long as it may be.
 */
const MAX_WAITING = 20_000;
/** Of app ids that this node has not met. They may exist, and they may have been made up. */
const MAX_STRANGERS = 1_000;
const MAX_REASON_LENGTH = 500;

/**
 * Writes down what channels have called, for whoever has to say why a call was refused. In batches, one at a time, behind the answers. A request never waits for it and never fails by it: what cannot be written is
 * dropped, and counted.
 */
export function createRequestLog({ database, log, isKnown, countDropped }: RequestLogDeps) {
  const waiting: WaitingRequest[] = [];
  let strangers = 0;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;
  /** Whether the database refused the last time. */
  let isFailing = false;

  /** What is there now; what comes meanwhile is gathered for the next time. After a failure the rest waits for it too. */
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
        log.warn({ err, cause: 'log of requests' }, 'requests could not be written to their log');
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
    add(request: LoggedRequest): void {
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
        // A node that leaves does not wait for a database that is away, batch after batch.
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

/** A message may repeat the name of a field, which may hold anything; PostgreSQL takes no zero character. */
function toStorable(request: LoggedRequest): LoggedRequest {
  const { reason } = request;
  return reason === null ? request : { ...request, reason: reason.replaceAll('\0', '').slice(0, MAX_REASON_LENGTH) };
}
