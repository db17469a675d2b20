import { type AlertView, findAlerts, lockAlert, storeAcknowledgement } from '../platform/alerts/alerts-sql.js';
import { recordAudit } from './audit.js';
import { type Changed, inTransaction, NotFoundError, type Operator } from './operator.js';
import { quoted } from './rules.js';

/** More than a person reads at once. */
const MAX_LISTED = 1000;

/** The latest first; only those that nobody has acknowledged, unless `all`. */
export async function listAlerts({ database }: Operator, input: { readonly all?: boolean } = {}): Promise<AlertView[]> {
  return findAlerts(database, input.all === true ? 'all' : 'open', MAX_LISTED);
}

/** Takes an alert off the list until it is raised again. */
export async function acknowledgeAlert(
  operator: Operator,
  { kind, subject }: { readonly kind: string; readonly subject: string },
): Promise<Changed<AlertView>> {
  return inTransaction(operator, async (tx) => {
    const alert = await lockAlert(tx, kind, subject);
    if (!alert) throw new NotFoundError(`there is no alert ${quoted(kind)} about ${quoted(subject)}`);
    if (alert.acknowledgedAt !== null) return { ...alert, changed: false };
    const acknowledged = await storeAcknowledgement(tx, kind, subject, operator.actor);
    await recordAudit(tx, { actor: operator.actor, action: 'alert.acknowledge', subject, detail: { kind } });
    return { ...acknowledged, changed: true };
  });
}
