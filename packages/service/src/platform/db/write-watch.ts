import pg from 'pg';
import { sqlState, type Unavailable } from './failures.js';

export interface WriteWatchOptions {
  /** Tries to write. Allocates new disk space and frees it again. */
  readonly attempt: () => Promise<void>;
  /**
   * Called with the error when a write fails because the disk is full or faulty, and with undefined when writes work
   * again.
   */
  readonly onChange?: ((failure: Unavailable | undefined) => void) | undefined;
}

const ATTEMPT_MS = 1_000;
/**
 * The database counts as writable only after this time without an error of NO_ROOM_STATES. A successful attempt is not
 * enough, because it may have used a different tablespace, which has space.
 */
const QUIET_MS = 5_000;

/** `disk_full` and `io_error`. */
const NO_ROOM_STATES: readonly (string | undefined)[] = ['53100', '58030'];
/**
 * Server functions that raise NO_ROOM_STATES for shared memory, temporary files or unreadable blocks. These errors do
 * not show whether tables can be written.
 */
const OTHER_ROUTINES = /^(dsm_|BufFile|mdread|mdstartread|md_readv)/;

export function isOutOfRoom(error: unknown): error is Unavailable {
  if (!NO_ROOM_STATES.includes(sqlState(error))) return false;
  const { cause } = error as Unavailable;
  return !(cause instanceof pg.DatabaseError && OTHER_ROUTINES.test(cause.routine ?? ''));
}

/**
 * Tracks whether the database can write. When the disk is full, PostgreSQL still stores rows that fit into existing
 * pages and refuses all others. The watch notes the first statement that fails for lack of space or with an I/O error.
 * Then it attempts a write every second until writes work, so that it notices free space even without requests.
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
      // If space is missing, `note` was already called. An unreachable database is reported by the readiness probe.
    }
    schedule();
  }

  function schedule(): void {
    timer = failure && !isStopped ? setTimeout(() => void look(), ATTEMPT_MS).unref() : undefined;
  }

  return {
    /** The error of the failed write. Undefined if the database can write, as far as this process knows. */
    get failure() {
      return failure;
    },
    /** Must be called with every error of a statement that failed because the database is unavailable. */
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
