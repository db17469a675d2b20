import type { Command } from 'commander';
import { type AuditRecord, listAudit } from '../../../operator/audit.js';
import { type VerifiedAudit, verifyAudit } from '../../../operator/audit-chain.js';
import { addCommand, type CommandLine, type JsonOption } from '../../frame/command.js';
import { parseWholeNumber } from '../../frame/options.js';
import type { SafeText } from '../../frame/safe-text.js';
import { record, table } from '../../frame/table.js';

export function addAuditCommands(program: Command, { perform, performList }: CommandLine): void {
  const audit = program.command('audit').description('who changed what, and when');

  addCommand(audit, 'list', 'changes, newest first', ['list --limit 20', 'list --subject test_demo --json'])
    .option('--subject <code>', 'only of this app id, product or payment channel')
    .option('--limit <n>', 'at most this many, 1 to 1000 (default: 50)', parseWholeNumber)
    .action(async ({ subject, limit, ...options }: AuditOptions) => {
      const input = { ...(subject === undefined ? {} : { subject }), ...(limit === undefined ? {} : { limit }) };
      await performList(options, (operator) => listAudit(operator, input), auditTable);
    });

  addCommand(audit, 'verify', 'whether an entry was changed or removed; exit code 1 if so', ['verify']).action(
    async (options: JsonOption) => {
      await perform(options, verifyAudit, verifiedText, ({ brokenAt }) => brokenAt === null);
    },
  );
}

interface AuditOptions extends JsonOption {
  readonly subject?: string;
  readonly limit?: number;
}

function auditTable(records: readonly AuditRecord[]): SafeText {
  return table(
    ['WHEN', 'WHO', 'WHAT', 'SUBJECT', 'DETAIL'],
    records.map(({ at, actor, action, subject, detail }) => [at, actor, action, subject, JSON.stringify(detail)]),
  );
}

function verifiedText({ entries, last, brokenAt }: VerifiedAudit): SafeText {
  return record([
    ['entries', String(entries)],
    ['last number', String(last.chainNo)],
    ['last hash', last.hash],
    ['result', brokenAt === null ? 'all fit' : `broken at number ${brokenAt}`],
  ]);
}
