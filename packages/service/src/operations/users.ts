import { text as readAll } from 'node:stream/consumers';
import { Type } from '@perennial/wire';
import { makeChange } from '../operator/approvals/changes.js';
import { OperatorError } from '../operator/operator.js';
import { changeMobile, prepareMobile } from '../operator/orders/users/change-mobile.js';
import { eraseUser } from '../operator/orders/users/erase-user.js';
import {
  type Erasure,
  listErasures,
  type RepeatedErasures,
  repeatErasures,
} from '../operator/orders/users/erasures.js';
import { readUserData, recordExport, type UserExport } from '../operator/orders/users/export-user.js';
import * as schemas from '../operator/schemas/orders.js';
import { readFileInPieces, savePrivately, toBytes } from './command/files.js';
import { paragraphs, type SafeText, safeLines, safeText } from './command/safe-text.js';
import { table } from './command/table.js';
import { command, operation } from './operation.js';
import { WITHOUT_APPROVAL } from './second-person.js';

/** The rules of both console operations on a user's personal data. */
const OF_PERSONAL_DATA = { method: 'POST', role: 'admin', needsProof: true } as const;

/** Personal data of one user: export, erasure, and the list of erasures. */
export const userOperations = [
  operation({
    ...OF_PERSONAL_DATA,
    path: '/users/export',
    summary: 'Everything that is stored about a user, decrypted',
    body: schemas.userExportRequest,
    answer: Type.Unsafe<UserExport>({ type: 'object' }),
    run: recordExport,
    secondPerson: {
      secrets: async (user, operator) => ({ userData: JSON.stringify(await readUserData(operator, user), null, 2) }),
    },
    toAnswer: (user, _context, operator) => readUserData(operator, user),
  }),
  command({
    usage: 'user export <app-id> <channel-user-id>',
    summary: 'everything that is stored about a user, decrypted, as JSON',
    examples: ['export test_demo user-1 --output user-1.json', 'export test_demo user-1 --json | jq .orders'],
    body: Type.Object({ output: Type.Optional(Type.String()), withoutApproval: Type.Optional(Type.String()) }),
    fields: {
      output: ['--output <file>', 'write to this file, which only you can read (default: print it)'],
      withoutApproval: ['--without-approval <text>', WITHOUT_APPROVAL],
    },
    run: async (operator, { output, withoutApproval, ...user }) => {
      const run = (by: typeof operator) => recordExport(by, user);
      await makeChange(operator, { operation: '', input: {}, run }, { withoutApproval });
      const data = await readUserData(operator, user);
      if (output === undefined) return data;
      await savePrivately(output, 'the export', (file) => file.appendFile(`${JSON.stringify(data, null, 2)}\n`));
      return { file: output, orders: data.orders.length, agreements: data.agreements.length };
    },
    text: (result) =>
      'file' in result
        ? `wrote ${result.orders} orders and ${result.agreements} agreements to ${result.file}`
        : safeLines([JSON.stringify(result)]),
  }),
  operation({
    ...OF_PERSONAL_DATA,
    path: '/users/erase',
    summary: 'Erase a user’s personal data; orders and amounts stay, under a pseudonym',
    body: schemas.userEraseRequest,
    answer: schemas.userErased,
    run: eraseUser,
    secondPerson: {},
    command: {
      usage: 'user erase <app-id> <channel-user-id>',
      examples: ['erase test_demo user-1 --reason "asked for by letter, ticket 4711"'],
      fields: { reason: ['--reason <text>', 'reason, for the audit log'] },
      text: ({ orders, agreements, auditTextsKept, userHash, erasedAt, changed }) =>
        changed
          ? safeText`erased ${userHash}: ${orders} orders and ${agreements} agreements stay under a pseudonym
audit entries of earlier versions that keep their texts: ${auditTextsKept}
store the list elsewhere, to repeat erasures after a restore: perennial user erasures --json`
          : `was already erased at ${erasedAt}`,
    },
  }),
  operation({
    method: 'POST',
    path: '/users/mobile',
    role: 'support',
    needsProof: true,
    summary: 'Bind a user to another mobile number; in production a second operator approves',
    body: schemas.mobileRequest,
    answer: schemas.mobileChanged,
    run: changeMobile,
    secondPerson: { prepare: prepareMobile },
    command: {
      usage: 'user change-mobile <app-id> <channel-user-id>',
      examples: ['change-mobile test_demo user-1 --mobile 13800138000 --reason "new number, ticket 4711"'],
      fields: {
        mobile: ['--mobile <number>', 'the new mobile number, which no other user of the channel may have'],
        reason: ['--reason <text>', 'reason, for the audit log'],
      },
      text: ({ mobile }) => safeText`the mobile number is now ${mobile}`,
    },
  }),
  command({
    usage: 'user erasures',
    summary: 'list erased users, by the hashes of their ids',
    examples: ['erasures --json > erasures.json'],
    run: listErasures,
    text: (erasures) =>
      table(
        ['ERASED', 'CHANNEL', 'USER'],
        erasures.map(({ erasedAt, appId, userHash }) => [erasedAt, appId, userHash]),
      ),
  }),
  command({
    usage: 'user repeat-erasures <file>',
    summary: 'erase the listed users again, after a restore of an older backup; exit code 1 if one is refused',
    examples: ['repeat-erasures erasures.json'],
    body: Type.Object({ withoutApproval: Type.Optional(Type.String()) }),
    fields: {
      file: ['<file>', 'output of `user erasures --json`', readFileInPieces('the list')],
      withoutApproval: ['--without-approval <text>', WITHOUT_APPROVAL],
    },
    run: async (operator, { file, withoutApproval }) =>
      repeatErasures(operator, readErasures(await readAll(toBytes(file))), (input) => {
        const run = (by: typeof operator) => eraseUser(by, input);
        return makeChange(operator, { operation: '', input: {}, run }, { withoutApproval });
      }),
    isGood: ({ refused }) => refused.length === 0,
    text: repeatedText,
  }),
];

function readErasures(text: string): Erasure[] {
  const isErasure = (one: unknown): one is Erasure =>
    ['appId', 'userHash', 'erasedAt'].every(
      (name) => typeof (one as Record<string, unknown> | null)?.[name] === 'string',
    );
  try {
    const { items } = JSON.parse(text) as { readonly items: unknown };
    if (Array.isArray(items) && items.every(isErasure)) return items;
  } catch {
    // Refused below.
  }
  throw new OperatorError('the list must be the output of `perennial user erasures --json`');
}

function repeatedText({ listed, erased, refused }: RepeatedErasures): SafeText {
  const done = safeText`${erased} of ${listed} listed users were in this database and are erased`;
  if (refused.length === 0) return done;
  const rows = refused.map(({ appId, userHash, reason }) => [appId, userHash, reason]);
  return paragraphs([done, table(['CHANNEL', 'USER', 'NOT ERASED, BECAUSE'], rows)]);
}
