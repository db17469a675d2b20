import { moveLaggingSequencesIn } from '../../platform/db/sequences.js';
import { storeBackup } from '../../platform/installation/backups-sql.js';
import { recordAudit } from '../audit.js';
import { inTransaction, type Operator } from '../operator.js';
import { type SkippedNumbers, skipNumbers } from './numbers-sql.js';

/** Stores that a backup was made now, for its age in /metrics. */
export async function recordOtherBackup({ database }: Operator): Promise<{ readonly recorded: true }> {
  await storeBackup(database);
  return { recorded: true };
}

export interface NumbersSkipped {
  /** Sequences that were behind the numbers of the rows, and were moved above them first. */
  readonly behind: readonly string[];
  readonly skipped: readonly SkippedNumbers[];
}

/** For a restored database: skips the numbers that may have been given out since the backup was made. */
export async function skipUsedNumbers(operator: Operator): Promise<NumbersSkipped> {
  return inTransaction(operator, async (tx) => {
    const behind = await moveLaggingSequencesIn(tx);
    const skipped = await skipNumbers(tx);
    const detail = Object.fromEntries(skipped.map(({ name, to }) => [name, to]));
    await recordAudit(tx, { actor: operator.actor, action: 'numbers.skip', subject: 'installation', detail });
    return { behind, skipped };
  });
}
