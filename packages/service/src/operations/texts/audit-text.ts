import type { AuditRecord } from '../../operator/audit/audit.js';
import type { VerifiedAudit } from '../../operator/audit/audit-chain.js';
import type { SafeText } from '../command/safe-text.js';
import { record, table } from '../command/table.js';

export function auditTable(records: readonly AuditRecord[]): SafeText {
  return table(
    ['WHEN', 'WHO', 'WHAT', 'SUBJECT', 'DETAIL'],
    records.map(({ at, actor, action, subject, detail }) => [at, actor, action, subject, JSON.stringify(detail)]),
  );
}

export function verifiedText({ entries, last, brokenAt }: VerifiedAudit): SafeText {
  return record([
    ['entries', String(entries)],
    ['last number', String(last.chainNo)],
    ['last hash', last.hash],
    ['result', brokenAt === null ? 'no entry was changed or removed' : `broken at number ${brokenAt}`],
  ]);
}
