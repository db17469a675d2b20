import { Type } from '@perennial/wire';
import { listAudit, listAuditPage } from '../operator/audit/audit.js';
import { verifyAudit } from '../operator/audit/audit-chain.js';
import * as schema from '../operator/schemas/people.js';
import { command, operation } from './operation.js';
import { auditTable, verifiedText } from './texts/audit-text.js';

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
    summary: 'Check whether an entry of the audit log was changed or removed',
    answer: schema.auditVerified,
    run: verifyAudit,
    toAnswer: ({ entries, brokenAt }) => ({ entries, brokenAt }),
    command: {
      usage: 'audit verify',
      summary: 'check whether an entry was changed or removed; exit code 1 if so',
      examples: ['verify'],
      isGood: ({ brokenAt }) => brokenAt === null,
      text: verifiedText,
    },
  }),
];
