import pg from 'pg';
import { sqlState, type Unavailable } from './failures.js';

export interface WriteWatchOptions {
  /** Tries to write. Allocates space that no table has yet, and frees it. */
  readonly attempt: () => Promise<void>;
  /** Called when a write fails for lack of space, and when the database can write again. */
  readonly onChange?: ((failure: Unavailable | undefined) => void) | undefined;
}

const ATTEMPT_MS = 1_000;
/**
 * Time without a failed statement that ends the state: an attempt may find space elsewhere, as in another tablespace.
 */
const QUIET_MS = 5_000;

/** `disk_full` and `io_error`. */
const NO_ROOM_STATES: readonly (string | undefined)[] = ['53100', '58030'];
/**
 * Routines that raise these states for shared memory, temporary files of one query, and unreadable blocks. They do not
 * show if tables can be written.
 */
const OTHER_ROUTINES = /^(dsm_|BufFile|mdread|mdstartread|md_readv)/;

export function isOutOfRoom(error: unknown): error is Unavailable {
  if (!NO_ROOM_STATES.includes(sqlState(error))) return false;
  const { cause } = error as Unavailable;
  return !(cause instanceof pg.DatabaseError && OTHER_ROUTINES.test(cause.routine ?? ''));
}

/**
 * Tracks if the database can write. A database that answers may be unable to: rows that fit into existing pages are
 * stored, all others are refused. A statement that fails for lack of space begins that state. Only then does the watch
 * write, once a second, so that the state ends without a request.
 */
export function createWriteWatch({ attempt, onChange }: WriteWatchOptions) {
  let failure: Unavailable | undefined;
  let failedAt = 0;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  function change(to: Unavailable | undefined): void {
    failure = to;
    onChange?.(to);
  }

  async function look(): Promise<void> {
    try {
      await attempt();
      if (performance.now() - failedAt >= QUIET_MS) change(undefined);
    } catch {
      // A lack of space was noted. An unreachable database is reported by the readiness probe.
    }
    schedule();
  }

  function schedule(): void {
    timer = failure && !isStopped ? setTimeout(() => void look(), ATTEMPT_MS).unref() : undefined;
  }

  return {
    /** Undefined while the database can write, as far as this process knows. */
    get failure() {
      return failure;
    },
    /** Called with every statement that failed because the database is unavailable. */
    note(error: Unavailable): void {
      if (!isOutOfRoom(error)) return;
      failedAt = performance.now();
      if (failure) return;
      change(error);
      schedule();
    },
    stop(): void {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

export type WriteWatch = ReturnType<typeof createWriteWatch>;
