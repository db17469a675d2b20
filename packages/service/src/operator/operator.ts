import type { Gateways } from '../gateways/gateway-registry.js';
import type { Clock } from '../platform/clock.js';
import { sqlState, type Transaction, type Transactional } from '../platform/db/database.js';
import { createRefusal, PlainError } from '../platform/plain-error.js';
import type { Vault } from '../platform/secrets/vault.js';
import type { Environment } from '../platform/settings.js';
import type { RefusalCode } from './refusal-codes.js';

/** The operator and the installation: the first argument of every action. */
export interface Operator {
  readonly database: Transactional;
  readonly vault: Vault;
  readonly environment: Environment;
  /** Of every amount. Unset: CNY. */
  readonly currency?: string;
  /** As the audit table names it, for example `cli:ann@host`. */
  readonly actor: string;
  /** A sandbox on its embedded database may call back to this machine. Unset: it may not. */
  readonly localCallbacks?: boolean;
}

/** For actions that depend on the time. */
export interface OperatorWithClock extends Operator {
  readonly clock: Clock;
}

/** For actions that ask an institution while the operator waits. */
export interface OperatorWithGateways extends OperatorWithClock {
  readonly gateways: Gateways;
}

/** An action that cannot be done: the message is one line for people. */
export class OperatorError extends PlainError {}

/** An action that met another change of the same records. Nothing was changed, and it may succeed when it is repeated. */
export class BusyError extends OperatorError {}

/** What was asked for does not exist. */
export class NotFoundError extends OperatorError {}

/** An action that cannot be done, with the code by which pages in other languages have a text of their own. */
export const refusal = (code: RefusalCode, kind: typeof OperatorError = OperatorError, options?: ErrorOptions) =>
  createRefusal(kind, code, options);

/** A record after an action. `changed` is false when the action had nothing to change: then no audit row was written either. */
export type Changed<T> = T & { readonly changed: boolean };

/** SQLSTATEs of two conflicting changes: the action may succeed when it is repeated. */
const CONFLICT_STATES = new Set(['55P03', '40P01', '40001']);

/** One transaction for everything an action writes. An action that is given `joined` becomes a part of it. */
export async function inTransaction<T>(
  operator: Operator,
  work: (tx: Transaction, joined: Operator) => Promise<T>,
): Promise<T> {
  try {
    return await operator.database.transaction((tx) => {
      const database = { query: tx.query, transaction: <R>(inner: (same: Transaction) => Promise<R>) => inner(tx) };
      return work(tx, { ...operator, database });
    });
  } catch (error) {
    if (!CONFLICT_STATES.has(sqlState(error) ?? '')) throw error;
    throw refusal(
      'busy-records',
      BusyError,
    )`another change to the same records is running; nothing was changed, try again`;
  }
}
