import { Type } from '@perennial/wire';
import { listAudit, listAuditPage } from '../operator/audit/audit.js';
import { type AuditHead, readAuditHead, sealAudit, verifyAudit } from '../operator/audit/audit-chain.js';
import * as schema from '../operator/schemas/people.js';
import { readJsonFile, writeNewJsonFile } from './command/files.js';
import { command, operation } from './operation.js';
import { auditTable, headText, sealedText, verifiedText } from './texts/audit-text.js';

const readHead = readJsonFile('the head');

export const auditOperations = [
  operation({
    method: 'GET',
    path: '/audit',
    summary: 'Audit log, latest first',
    query: schema.auditQuery,
    answer: schema.audit,
    run: listAuditPage,
  }),
  command({
    usage: 'audit list',
    summary: 'audit log, newest first',
    examples: ['list --limit 20', 'list --subject test_demo --json'],
    body: Type.Object({ subject: Type.Optional(Type.String()), limit: Type.Optional(Type.Integer()) }),
    fields: {
      subject: ['--subject <code>', 'only this app id, product or payment channel'],
      limit: ['--limit <n>', 'at most this many, 1 to 1000 (default: 50)'],
    },
    run: listAudit,
    text: auditTable,
  }),
  operation({
    method: 'GET',
    path: '/audit/verify',
    role: 'admin',
    summary: 'Verify the entries of the audit log since the last verification',
    answer: schema.auditVerified,
    run: (operator) => verifyAudit(operator),
    toAnswer: ({ entries, brokenAt, problem, wholeAt }) => ({ entries, brokenAt, problem, wholeAt }),
  }),
  command({
    usage: 'audit verify',
    summary: 'check the entries since the last verification; exit code 1 if one was changed or removed',
    examples: ['verify', 'verify --all', 'verify --head head.json'],
    body: Type.Object({ all: Type.Optional(Type.Boolean()), head: Type.Optional(Type.Unsafe<AuditHead>({})) }),
    fields: {
      all: ['--all', 'check every entry from the first'],
      head: ['--head <file>', 'check every entry, and that the log still contains this output of audit head', readHead],
    },
    run: verifyAudit,
    isGood: ({ brokenAt }) => brokenAt === null,
    text: verifiedText,
  }),
  command({
    usage: 'audit head',
    summary: 'the end of the audit log with its seal, to be stored elsewhere',
    examples: ['head', 'head --output head.json'],
    body: Type.Object({ output: Type.Optional(Type.String()) }),
    fields: { output: ['--output <file>', 'write it to this file, which must not exist yet'] },
    run: async (operator, { output }) => {
      const head = await readAuditHead(operator);
      if (output !== undefined) await writeNewJsonFile(output, head);
      return head;
    },
    text: headText,
  }),
  command({
    usage: 'audit seal',
    summary: 'seal entries that nodes of an earlier release wrote during an upgrade',
    examples: ['seal'],
    run: (operator) => sealAudit(operator),
    text: sealedText,
  }),
];
