import { withoutTimeouts } from '../../platform/copies/backup.js';
import { findLaggingSequences, type LaggingSequence } from '../../platform/copies/tables-sql.js';
import { findInstallation } from '../../platform/installation/installation.js';
import { inTransaction, type Operator } from '../operator.js';
import { type MasterKeyStatus, masterKeyStatus } from './master-key.js';
import { findLastWrite, findWaiting, type Waiting } from './restore-check-sql.js';

export interface RestoreCheck {
  readonly lastWriteAt: string | null;
  readonly secondsAgo: number | null;
  readonly waiting: readonly Waiting[];
  readonly lagging: readonly LaggingSequence[];
  readonly masterKey: Pick<MasterKeyStatus, 'currentKeyId' | 'allOpen'>;
  /** What keeps the engine from being switched on, in words. */
  readonly problems: readonly string[];
}

const NOTHING = 'there is nothing in this database';

/** Without a schema, or with one that no service was started on. */
function nothingIn({ vault }: Operator): RestoreCheck {
  return {
    lastWriteAt: null,
    secondsAgo: null,
    waiting: [],
    lagging: [],
    masterKey: { currentKeyId: vault.keyIds[0], allOpen: true },
    problems: [NOTHING],
  };
}

/** What this database would do once the engine is on, as it is in one moment. Changes nothing. */
export async function checkRestored(operator: Operator): Promise<RestoreCheck> {
  return inTransaction(operator, async (tx, joined) => {
    await tx.query('set transaction isolation level repeatable read, read only');
    await withoutTimeouts(tx);
    if (!(await findInstallation(tx))) return nothingIn(operator);
    const { at: lastWriteAt, secondsAgo } = await findLastWrite(tx);
    const lagging = await findLaggingSequences(tx);
    const { currentKeyId, allOpen } = await masterKeyStatus(joined);
    return {
      lastWriteAt,
      secondsAgo,
      waiting: await findWaiting(tx),
      lagging,
      masterKey: { currentKeyId, allOpen },
      problems: [
        ...(lastWriteAt === null ? [NOTHING] : []),
        ...lagging.map(({ name }) => `the sequence ${name} would give numbers again that are taken`),
        ...(allOpen ? [] : ['not every key opens with this master key (master-key status)']),
      ],
    };
  });
}
