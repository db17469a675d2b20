import { type AlertView, severityOf } from '../../alerts/alerts-sql.js';
import type { SafeText } from '../command/safe-text.js';
import { table } from '../command/table.js';

export function alertTable(alerts: readonly AlertView[]): SafeText {
  return table(
    ['SEVERITY', 'KIND', 'SUBJECT', 'DETAIL', 'SEEN', 'FIRST', 'LAST', 'ACKNOWLEDGED', 'RESOLVED'],
    alerts.map((one) => [
      severityOf(one.kind),
      one.kind,
      one.subject,
      one.detail,
      `${one.seen}`,
      one.firstSeenAt,
      one.lastSeenAt,
      one.acknowledgedBy ?? '',
      one.resolvedAt === null ? '' : `${one.resolvedAt}, ${one.resolvedBecause}`,
    ]),
  );
}
