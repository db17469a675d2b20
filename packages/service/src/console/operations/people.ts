import { listAuditPage } from '../../operator/audit.js';
import { verifyAudit } from '../../operator/audit-chain.js';
import type { Changed } from '../../operator/operator.js';
import {
  createPerson,
  disablePerson,
  enablePerson,
  listPeople,
  resetPerson,
  setRole,
} from '../../operator/people/people.js';
import type { PersonView } from '../../operator/people/people-sql.js';
import { type ConsoleContext, operation } from '../operation.js';
import { readPageQuery } from '../page-query.js';
import * as schema from '../schemas/people.js';

const setupLink = ({ consoleUrl }: ConsoleContext, token: string | null) => `${consoleUrl()}/setup#${token ?? ''}`;

const toChanged = ({ changed, ...person }: Changed<PersonView>) => ({ person, changed });

export const peopleOperations = [
  operation({
    method: 'GET',
    path: '/people',
    role: 'viewer',
    summary: 'everybody who may sign in',
    answer: schema.people,
    run: async ({ operator }) => ({ people: await listPeople(operator) }),
  }),
  operation({
    method: 'POST',
    path: '/people',
    role: 'admin',
    needsProof: true,
    summary: 'makes an account, and a one-time link by which its owner sets a password',
    body: schema.personRequest,
    answer: schema.personWithLink,
    async run(context, { body }) {
      const { person, setupToken } = await createPerson(context.operator, body);
      return { person, setupLink: setupLink(context, setupToken) };
    },
  }),
  operation({
    method: 'PUT',
    path: '/people/{name}/role',
    role: 'admin',
    needsProof: true,
    summary: 'gives somebody another role; their sessions end',
    body: schema.roleRequest,
    answer: schema.personChanged,
    run: async ({ operator }, { path, body }) =>
      toChanged(await setRole(operator, { name: path['name'] ?? '', role: body.role })),
  }),
  operation({
    method: 'POST',
    path: '/people/{name}/disable',
    role: 'admin',
    summary: 'lets somebody sign in no more; their sessions end at once',
    answer: schema.personChanged,
    run: async ({ operator }, { path }) => toChanged(await disablePerson(operator, { name: path['name'] ?? '' })),
  }),
  operation({
    method: 'POST',
    path: '/people/{name}/enable',
    role: 'admin',
    needsProof: true,
    summary: 'lets somebody sign in again',
    answer: schema.personChanged,
    run: async ({ operator }, { path }) => toChanged(await enablePerson(operator, { name: path['name'] ?? '' })),
  }),
  operation({
    method: 'POST',
    path: '/people/{name}/reset',
    role: 'admin',
    needsProof: true,
    summary: 'ends password and codes of somebody who has lost them, and makes a new one-time link',
    answer: schema.personWithLink,
    async run(context, { path }) {
      const { person, setupToken } = await resetPerson(context.operator, { name: path['name'] ?? '' });
      return { person, setupLink: setupLink(context, setupToken) };
    },
  }),
  operation({
    method: 'GET',
    path: '/audit',
    role: 'viewer',
    summary: 'who did what, the latest first',
    query: schema.auditQuery,
    answer: schema.audit,
    run: ({ operator }, { query }) => listAuditPage(operator, { ...query, ...readPageQuery(query) }),
  }),
  operation({
    method: 'GET',
    path: '/audit/verify',
    role: 'admin',
    summary: 'whether an entry of the audit log was changed or removed',
    answer: schema.auditVerified,
    async run({ operator }) {
      const { entries, brokenAt } = await verifyAudit(operator);
      return { entries, brokenAt };
    },
  }),
];
