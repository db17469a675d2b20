import type { AlertMessage } from './message.js';
import type { AlertWay } from './messages-sql.js';

/** Sends alerts to operators, by webhook or by mail. */
export interface AlertTransport {
  readonly way: AlertWay;
  /** Resolves when the receiver has accepted the message, throws AlertNotTaken otherwise. A retry has the same id. */
  send(messageId: string, message: AlertMessage, signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/**
 * The error message gives the reason, for the log and the operator. It contains neither the payload nor a server's
 * address, because they may contain a secret.
 */
export class AlertNotTaken extends Error {}

/** The mail server has refused some or all addresses. Only these addresses are retried. */
export class AlertRefusedFor extends AlertNotTaken {
  constructor(
    readonly people: readonly string[],
    why: string,
  ) {
    super(`refused for ${people.join(', ')}${why}`);
  }
}

/** Time limit of one attempt. Shorter than the lease after which another node retries. */
export const MAX_SENDING_MS = 20_000;

/** Returns the code of a failed connection, or the name of the error. */
export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return 'it failed';
  if (error.name === 'TimeoutError') return `no answer within ${MAX_SENDING_MS / 1000} s`;
  const coded = [error, error.cause].find(
    (one) => one instanceof Error && 'code' in one && typeof one.code === 'string',
  );
  return coded && 'code' in (coded as Error) ? String((coded as Error & { code: string }).code) : error.name;
}
