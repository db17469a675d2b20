import { DEFAULT_CURRENCY } from '@perennial/wire/currency';
import { needsAdoption } from '../../platform/installation/database-identity.js';
import { findInstallation } from '../../platform/installation/installation.js';
import { inTransaction, type Operator } from '../operator.js';
import { type MasterKeyStatus, readMasterKeyStatus } from './master-key.js';
import { findLaggingSequences, type LaggingSequence } from './numbers-sql.js';
import { findLastWrite, findWaitingWork, type WaitingWork } from './restore-check-sql.js';

export interface RestoreCheck {
  readonly lastWriteAt: string | null;
  readonly secondsAgo: number | null;
  readonly waiting: readonly WaitingWork[];
  readonly lagging: readonly LaggingSequence[];
  readonly masterKey: Pick<MasterKeyStatus, 'currentKeyId' | 'allOpen'>;
  /** Whether nodes wait until an operator has adopted the database. */
  readonly needsAdoption: boolean;
  /** Of every amount. */
  readonly currency: string;
  /** Why the engine must not be switched on, in words for people. */
  readonly problems: readonly string[];
}

const EMPTY_DATABASE = 'there is nothing in this database';

/** For a database without a schema, or on which no service was started. */
function describeEmptyDatabase({ vault, currency = DEFAULT_CURRENCY }: Operator): RestoreCheck {
  return {
    lastWriteAt: null,
    secondsAgo: null,
    waiting: [],
    lagging: [],
    masterKey: { currentKeyId: vault.keyIds[0], allOpen: true },
    needsAdoption: false,
    currency,
    problems: [EMPTY_DATABASE],
  };
}

/** What the engine would do with this database, as of one moment. Changes nothing. */
export async function checkRestoredDatabase(operator: Operator): Promise<RestoreCheck> {
  return inTransaction(operator, async (tx, joined) => {
    await tx.query('set transaction isolation level repeatable read, read only');
    await tx.setStatementLimit(0);
    await tx.query('set local lock_timeout = 0');
    await tx.query('set local idle_in_transaction_session_timeout = 0');
    if (!(await findInstallation(tx))) return describeEmptyDatabase(operator);
    const { at: lastWriteAt, secondsAgo } = await findLastWrite(tx);
    const lagging = await findLaggingSequences(tx);
    const { currentKeyId, allOpen } = await readMasterKeyStatus(joined);
    return {
      lastWriteAt,
      secondsAgo,
      waiting: await findWaitingWork(tx),
      lagging,
      masterKey: { currentKeyId, allOpen },
      needsAdoption: await needsAdoption(tx),
      currency: operator.currency ?? DEFAULT_CURRENCY,
      problems: [
        ...(lastWriteAt === null ? [EMPTY_DATABASE] : []),
        ...lagging.map(({ name }) => `the sequence ${name} would give numbers again that are taken`),
        ...(allOpen ? [] : ['not every key opens with this master key (master-key status)']),
      ],
    };
  });
}
