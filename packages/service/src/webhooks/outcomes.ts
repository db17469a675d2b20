import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type Database, sqlState, Unavailable } from '../db/database.js';
import { gather } from '../db/gather.js';
import { raiseAlert } from '../payments/alerts-sql.js';
import { keyOf } from './due-sql.js';
import { finishPushes, type Pushed } from './finish-sql.js';

export interface Outcomes {
  /** True once it is written down, or is another node's matter by now. */
  write(pushed: Pushed): Promise<boolean>;
}

export interface OutcomesDeps {
  readonly database: Database;
  readonly log: Logger;
  /** No longer worth trying: the node ends, and its lease with it. */
  readonly givingUp: () => boolean;
}

/** A timeout, a lock that was not to be had, a deadlock: the same statement may well succeed. */
const PASSING = new Set(['57014', '55P03', '40P01', '40001']);

/** Writes down how pushes ended, many in one statement. While the database is away they wait: nobody else has sent them. */
export function outcomes({ database, log, givingUp }: OutcomesDeps): Outcomes {
  async function writeDown(pushed: readonly Pushed[]): Promise<undefined[]> {
    for (;;) {
      try {
        if (pushed.some(isLast)) await writeWithAlerts(database, pushed);
        else await finishPushes(database, pushed);
        return pushed.map(() => undefined);
      } catch (error) {
        const passes = error instanceof Unavailable || PASSING.has(sqlState(error) ?? '');
        if (!passes || givingUp()) throw error;
        await delay(200);
      }
    }
  }
  const together = gather<Pushed, undefined>({ maxBatch: 512, slots: 2, run: writeDown });
  return {
    async write(pushed) {
      try {
        await together(pushed);
        return true;
      } catch (err) {
        log.warn({ err, eventId: keyOf(pushed.due) }, 'how a push ended could not be written down');
        return false;
      }
    },
  };
}

const isLast = ({ outcome, againIn }: Pushed) => outcome !== 'ACCEPTED' && againIn === undefined;

async function writeWithAlerts(database: Database, pushed: readonly Pushed[]): Promise<void> {
  await database.transaction(async (tx) => {
    for (const { appId, count } of await finishPushes(tx, pushed)) {
      await raiseAlert(tx, 'webhook-given-up', appId, `${count} given up at once`);
    }
  });
}
