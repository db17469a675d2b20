import type { Gateways } from '../gateways/gateway-registry.js';
import type { Cell } from '../platform/cells.js';
import type { Clock } from '../platform/clock.js';
import { sqlState, type Transaction, type Transactional } from '../platform/db/database.js';
import { createRefusal, PlainError } from '../platform/plain-error.js';
import type { KeyService } from '../platform/secrets/key-service.js';
import type { Vault } from '../platform/secrets/vault.js';
import type { Environment } from '../platform/settings.js';
import type { RefusalCode } from './refusal-codes.js';

/** The acting operator and the installation. It is the first argument of actions. */
export interface Operator {
  readonly database: Transactional;
  readonly vault: Vault;
  /** The key service that wraps the master key. Unset: the master key comes from a setting or a file. */
  readonly keyService?: KeyService | undefined;
  readonly environment: Environment;
  /** Currency of every amount. Unset: CNY. */
  readonly currency?: string;
  /** The actor in the audit log, such as `cli:ann@host`. */
  readonly actor: string;
  /** Allows callback addresses on this machine, for a sandbox with an embedded database. Unset: false. */
  readonly localCallbacks?: boolean;
  /** All cells of the installation. Unset: only this one. */
  readonly cells?: readonly Cell[];
}

/** The first argument of actions that depend on the time. */
export interface OperatorWithClock extends Operator {
  readonly clock: Clock;
}

/** The first argument of actions that call an institution while the operator waits. */
export interface OperatorWithGateways extends OperatorWithClock {
  readonly gateways: Gateways;
}

/** Thrown if an action is refused. The message is one line for operators. */
export class OperatorError extends PlainError {}

/** Thrown on a conflict with another change. Nothing was changed, and a retry may succeed. */
export class BusyError extends OperatorError {}

export class NotFoundError extends OperatorError {}

/** Creates the error for a refused action. The console translates it by its code. */
export const refusal = (code: RefusalCode, kind: typeof OperatorError = OperatorError, options?: ErrorOptions) =>
  createRefusal(kind, code, options);

/** A record after an action. `changed` is false if the action changed nothing and wrote no audit entry. */
export type Changed<T> = T & { readonly changed: boolean };

/** SQLSTATEs that PostgreSQL returns if concurrent changes conflict. A retry may succeed. */
const CONFLICT_STATES = new Set(['55P03', '40P01', '40001']);

/** Runs an action's writes in one transaction. Actions that `work` calls with `joined` run in the same transaction. */
export async function inTransaction<T>(
  operator: Operator,
  work: (tx: Transaction, joined: Operator) => Promise<T>,
): Promise<T> {
  // Otherwise the first actions would wait for a second connection while each holds one.
  await operator.database.prepareSigning?.();
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
    )`another change to the same records is in progress; nothing was changed, try again`;
  }
}
