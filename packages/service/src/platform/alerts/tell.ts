import type { Logger } from 'pino';
import type { Database } from '../db/database.js';
import { type AlertMessage, alertMessage, type Sender } from './message.js';
import {
  claimMessage,
  markFailed,
  markSent,
  markTakenExceptBy,
  storeMessage,
  takeTelling,
  takeUntold,
} from './messages-sql.js';
import { type AlertWay, NotTaken, NotTakenBy } from './way.js';

export interface TellingDeps {
  readonly database: Database;
  readonly ways: readonly AlertWay[];
  readonly sender: () => Sender;
}

/** The first alert of a kind is told at once, and what follows within five minutes together. */
const HOLDING_BACK = { gatherSeconds: 300, repeatSeconds: 86_400, listed: 20 };

/** Writes down what is to be sent, by each way; how many messages. From then on it is sent, whatever happens to this node. */
export async function writeMessages({ database, ways, sender }: TellingDeps): Promise<number> {
  return database.transaction(async (tx) => {
    if (!(await takeTelling(tx))) return 0;
    const told = await takeUntold(tx, HOLDING_BACK);
    for (const one of told) {
      const content = alertMessage(one, sender());
      for (const { way } of ways) await storeMessage(tx, { way, what: one.what, kind: one.kind, content });
    }
    return told.length * ways.length;
  });
}

export interface SendingDeps {
  readonly database: Database;
  readonly log: Logger;
}

/** In one run. What is left is for the next. */
const MOST_IN_A_RUN = 20;

/** Sends what is due by one way, until there is no more or the receiver does not take it; how many it has dealt with. */
export async function sendMessages(
  { database, log }: SendingDeps,
  way: AlertWay,
  signal?: AbortSignal,
): Promise<number> {
  for (let sent = 0; sent < MOST_IN_A_RUN && !signal?.aborted; sent += 1) {
    const message = await claimMessage<AlertMessage>(database, way.way);
    if (!message) return sent;
    const { messageId, content, tries } = message;
    try {
      await way.send(messageId, content, signal);
    } catch (error) {
      if (!(error instanceof NotTaken)) throw error;
      const isForSome = error instanceof NotTakenBy;
      if (signal?.aborted && !isForSome) return sent;
      log.warn({ way: way.way, messageId, tries, why: error.message }, 'an alert was not taken and will be sent again');
      if (isForSome) {
        await markTakenExceptBy(database, messageId, { people: error.people, failure: error.message });
        continue;
      }
      await markFailed(database, messageId, error.message);
      return sent;
    }
    await markSent(database, messageId);
  }
  return MOST_IN_A_RUN;
}
