import { moveLaggingSequencesIn } from '../../platform/db/sequences.js';
import { storeBackup } from '../../platform/installation/backups-sql.js';
import { recordAudit } from '../audit/audit.js';
import { inTransaction, type Operator } from '../operator.js';
import { skipNumbers } from './numbers-sql.js';

/** Records that a backup was made now. /metrics reports the backup's age from this record. */
export async function recordOtherBackup({ database }: Operator): Promise<{ readonly recorded: true }> {
  await storeBackup(database);
  return { recorded: true };
}

export type NumbersSkipped = Awaited<ReturnType<typeof skipUsedNumbers>>;

/**
 * For a restored database: skips the order, agreement and event numbers that may have been used between the backup and
 * the crash. First raises sequences that are behind the highest number of a row.
 */
export async function skipUsedNumbers(operator: Operator) {
  return inTransaction(operator, async (tx) => {
    const behind = await moveLaggingSequencesIn(tx);
    const skipped = await skipNumbers(tx);
    const detail = Object.fromEntries(skipped.map(({ name, to }) => [name, to]));
    await recordAudit(tx, { actor: operator.actor, action: 'numbers.skip', subject: 'installation', detail });
    return { behind, skipped };
  });
}
