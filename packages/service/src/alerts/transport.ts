import type { AlertMessage } from './message.js';
import type { AlertWay } from './messages-sql.js';

/** Sends alerts to people: by webhook or by mail. */
export interface AlertTransport {
  readonly way: AlertWay;
  /**
   * Resolves when the receiver has taken the message; throws AlertNotTaken otherwise. A message that is sent again has the
   * same id.
   */
  send(messageId: string, message: AlertMessage, signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/**
 * The error's message says why, for the log and the operator: never the address of a server, which may hold a secret, nor
 * what was sent.
 */
export class AlertNotTaken extends Error {}

/** The mail server has refused some addresses and accepted the others: only those are sent to again. */
export class AlertRefusedFor extends AlertNotTaken {
  constructor(
    readonly people: readonly string[],
    why: string,
  ) {
    super(`refused for ${people.join(', ')}${why}`);
  }
}

/** Longer than any receiver should take, and shorter than the time after which another node sends the message again. */
export const MAX_SENDING_MS = 20_000;

/** The code of a failed connection, or the kind of error. */
export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return 'it failed';
  if (error.name === 'TimeoutError') return `no answer within ${MAX_SENDING_MS / 1000} s`;
  const coded = [error, error.cause].find(
    (one) => one instanceof Error && 'code' in one && typeof one.code === 'string',
  );
  return coded && 'code' in (coded as Error) ? String((coded as Error & { code: string }).code) : error.name;
}
