import type { Logger } from 'pino';
import type { Database } from '../platform/db/database.js';
import { type AlertMessage, type AlertSender, createAlertMessage } from './message.js';
import {
  leaseAlertMessage,
  lockMessageWriting,
  markMessageFailed,
  markMessageSent,
  markRefusedFor,
  storeAlertMessage,
  takeAlertsToReport,
} from './messages-sql.js';
import { AlertNotTaken, AlertRefusedFor, type AlertTransport } from './transport.js';

export interface WriteMessagesDeps {
  readonly database: Database;
  readonly ways: readonly AlertTransport[];
  readonly sender: () => AlertSender;
}

/** The first alert of a kind is sent immediately. Alerts of that kind in the next five minutes share one message. */
const PACING = { gatherSeconds: 300, repeatSeconds: 86_400, listed: 20 };

/**
 * Stores the messages for each transport, and returns their number. Stored messages are sent even if this node dies.
 */
export async function writeAlertMessages({ database, ways, sender }: WriteMessagesDeps): Promise<number> {
  return database.transaction(async (tx) => {
    if (!(await lockMessageWriting(tx))) return 0;
    const told = await takeAlertsToReport(tx, PACING);
    for (const one of told) {
      const content = createAlertMessage(one, sender());
      for (const { way } of ways) await storeAlertMessage(tx, { way, what: one.what, kind: one.kind, content });
    }
    return told.length * ways.length;
  });
}

export interface SendMessagesDeps {
  readonly database: Database;
  readonly log: Logger;
}

const MAX_MESSAGES_PER_RUN = 20;

/**
 * Sends the due messages of one transport, at most MAX_MESSAGES_PER_RUN, until no message is left or a message is
 * refused. Returns the number of messages sent, including those refused for some addresses.
 */
export async function sendAlertMessages(
  { database, log }: SendMessagesDeps,
  way: AlertTransport,
  signal?: AbortSignal,
): Promise<number> {
  for (let sent = 0; sent < MAX_MESSAGES_PER_RUN && !signal?.aborted; sent += 1) {
    const message = await leaseAlertMessage<AlertMessage>(database, way.way);
    if (!message) return sent;
    const { messageId, content, tries } = message;
    try {
      await way.send(messageId, content, signal);
    } catch (error) {
      if (!(error instanceof AlertNotTaken)) throw error;
      const isForSome = error instanceof AlertRefusedFor;
      if (signal?.aborted && !isForSome) return sent;
      log.warn({ way: way.way, messageId, tries, why: error.message }, 'an alert was not taken and will be sent again');
      if (isForSome) {
        await markRefusedFor(database, messageId, { people: error.people, failure: error.message });
        continue;
      }
      await markMessageFailed(database, messageId, error.message);
      return sent;
    }
    await markMessageSent(database, messageId);
  }
  return MAX_MESSAGES_PER_RUN;
}
