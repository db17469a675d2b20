import { moveLaggingSequencesIn } from '../../platform/db/sequences.js';
import { storeBackup } from '../../platform/installation/backups-sql.js';
import { recordAudit } from '../audit/audit.js';
import { inTransaction, type Operator } from '../operator.js';
import { skipNumbers } from './numbers-sql.js';

/** Records that a backup was made now, for its age in /metrics. */
export async function recordOtherBackup({ database }: Operator): Promise<{ readonly recorded: true }> {
  await storeBackup(database);
  return { recorded: true };
}

export type NumbersSkipped = Awaited<ReturnType<typeof skipUsedNumbers>>;

/**
 * Skips the numbers of a restored database that may have been used since the backup. First moves sequences that lag
 * behind the rows above their numbers.
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
