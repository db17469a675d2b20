import { DEFAULT_CURRENCY } from '@perennial/wire/currency';
import { needsAdoption } from '../../platform/installation/database-identity.js';
import { findInstallation } from '../../platform/installation/installation.js';
import { inTransaction, type Operator } from '../operator.js';
import { readMasterKeyStatus } from './master-key.js';
import { findLaggingSequences } from './numbers-sql.js';
import { findErasures, findLastWrite, findWaitingWork } from './restore-check-sql.js';

export type RestoreCheck = Awaited<ReturnType<typeof checkRestoredDatabase>>;

const EMPTY_DATABASE = 'there is nothing in this database';

/** Describes a database that has no schema, or belongs to no installation yet. */
function describeEmptyDatabase({ vault, currency = DEFAULT_CURRENCY }: Operator) {
  return {
    lastWriteAt: null,
    secondsAgo: null,
    waiting: [],
    lagging: [],
    masterKey: { currentKeyId: vault.keyIds[0], allOpen: true },
    needsAdoption: false,
    erasures: { count: 0, latestAt: null },
    currency,
    problems: [EMPTY_DATABASE],
  };
}

/**
 * Reports what the engine would do with this database, and lists problems that forbid starting the engine. Reads one
 * snapshot and changes nothing.
 */
export async function checkRestoredDatabase(operator: Operator) {
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
      /** True if nodes wait until an operator adopts the database. */
      needsAdoption: await needsAdoption(tx),
      /** The number of erasures and the time of the latest. Erasures made after that time must be repeated. */
      erasures: await findErasures(tx),
      currency: operator.currency ?? DEFAULT_CURRENCY,
      problems: [
        ...(lastWriteAt === null ? [EMPTY_DATABASE] : []),
        ...lagging.map(({ name }) => `the sequence ${name} would repeat numbers that are in use`),
        ...(allOpen ? [] : ['not every key opens with this master key (master-key status)']),
      ],
    };
  });
}
