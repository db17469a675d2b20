import type { AuditRecord } from '../../operator/audit/audit.js';
import type { AuditHead, AuditProblem, sealAudit, VerifiedAudit } from '../../operator/audit/audit-chain.js';
import type { SafeText } from '../command/safe-text.js';
import { record, table } from '../command/table.js';

export function auditTable(records: readonly AuditRecord[]): SafeText {
  return table(
    ['WHEN', 'WHO', 'WHAT', 'SUBJECT', 'DETAIL'],
    records.map(({ at, actor, action, subject, detail }) => [at, actor, action, subject, JSON.stringify(detail)]),
  );
}

const PROBLEMS: Readonly<Record<AuditProblem, string>> = {
  changed: 'the entry or one before it was changed or removed',
  unsealed: 'the entry has no seal: a node of an earlier release wrote it, or somebody with access to the database',
  replaced: 'the seal is wrong, or the entry that was seen under this number is gone',
};

export function verifiedText({
  entries,
  checked,
  sealedFrom,
  wholeAt,
  brokenAt,
  problem,
  faults,
  last,
}: VerifiedAudit): SafeText {
  return record([
    ['entries', String(entries)],
    ['verified in this run', String(checked)],
    ['last full verification', wholeAt ?? 'never'],
    ['first sealed number', sealedFrom === null ? 'none' : String(sealedFrom)],
    ['last number', String(last.chainNo)],
    ['last hash', last.hash],
    [
      'result',
      problem === null
        ? 'no entry was changed or removed'
        : `broken at number ${brokenAt}: ${PROBLEMS[problem]}; wrong entries: ${faults}`,
    ],
  ]);
}

export function headText({ chainNo, hash, sealedFrom, at, seal }: AuditHead): SafeText {
  return record([
    ['last number', String(chainNo)],
    ['last hash', hash],
    ['first sealed number', sealedFrom === null ? 'none' : String(sealedFrom)],
    ['at', at],
    ['seal', seal],
  ]);
}

export const sealedText = ({ entries, from, to }: Awaited<ReturnType<typeof sealAudit>>): string =>
  entries === 0 ? 'every entry has a seal already' : `${entries} entries were sealed, from number ${from} to ${to}`;
