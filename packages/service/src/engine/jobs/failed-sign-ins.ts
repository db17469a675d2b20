import { alertText } from '../../alerts/alert-wordings.js';
import { raiseAlert } from '../../alerts/alerts-sql.js';
import { recordAudit } from '../../operator/audit/audit.js';
import { takeTraces } from '../../operator/people/sign-in-traces-sql.js';
import type { Transactional } from '../../platform/db/database.js';

/**
 * The number of failures in one minute that raises the alert. An operator who mistypes a password does not cause so
 * many.
 */
const BURST = 10;

/** Writes the failed sign-ins of past minutes to the audit log, and raises an alert if a minute had many of them. */
export async function reportFailedSignIns(database: Transactional): Promise<void> {
  await database.transaction(async (tx) => {
    const traces = await takeTraces(tx);
    for (const { name, address, failures } of traces) {
      const subject = name || 'unknown';
      await recordAudit(tx, { actor: 'console', action: 'session.fail', subject, detail: { failures }, address });
    }
    for (const minute of new Set(traces.map((one) => one.minute))) {
      const ofMinute = traces.filter((one) => one.minute === minute);
      const total = ofMinute.reduce((sum, { failures }) => sum + failures, 0);
      const names = new Set(ofMinute.map(({ name }) => name)).size;
      const addresses = new Set(ofMinute.map(({ address }) => address)).size;
      const detail = alertText('sign-in-failures', total, names, addresses);
      if (total >= BURST) await raiseAlert(tx, 'sign-in-failures', 'console', detail);
    }
  });
}
