import { Type } from '@perennial/wire';
import type { Changed, OperatorWithGateways } from '../operator/operator.js';
import {
  createPerson,
  disablePerson,
  enablePerson,
  type PersonWithToken,
  resetPerson,
  setRole,
  unbindPerson,
} from '../operator/people/people.js';
import { describePeople, type PersonView } from '../operator/people/people-sql.js';
import * as schema from '../operator/schemas/people.js';
import { readPassword } from './command/files.js';
import { type CommandField, type Context, command, operation } from './operation.js';
import { type PersonWithLink, peopleTable, personText, personWithLinkText } from './texts/people-text.js';

const ROLE: CommandField = ['--role <role>', 'viewer, support, finance or admin'];

export const peopleOperations = [
  operation({
    method: 'GET',
    path: '/people',
    summary: 'operators and their roles',
    answer: schema.people,
    run: ({ database }) => describePeople(database),
    toAnswer: (people) => ({ people }),
    command: { usage: 'operator list', examples: ['list'], text: peopleTable },
  }),
  operation({
    method: 'POST',
    path: '/people',
    role: 'admin',
    needsProof: true,
    summary: 'Create an operator, with a one-time link to set a password',
    body: schema.personRequest,
    answer: schema.personWithLink,
    run: makePerson,
    secondPerson: { secrets: linkOf },
    toAnswer: toLinkAnswer,
  }),
  command({
    usage: 'operator create <name>',
    inCells: () => ({}),
    summary: 'create an operator, and show a one-time link to set a password',
    examples: ['create ann --role admin', 'create bo --role support --password-stdin < password.txt'],
    body: Type.Object({ role: Type.String(), password: Type.Optional(Type.String()) }),
    fields: {
      role: ROLE,
      password: ['--password-stdin', 'read the password from standard input instead of showing a link', readPassword],
    },
    run: makePerson,
    secondPerson: {},
    text: personWithLinkText,
  }),
  operation({
    method: 'PUT',
    path: '/people/{name}/role',
    role: 'admin',
    needsProof: true,
    summary: 'change the role of an operator; their sessions end',
    body: schema.roleRequest,
    answer: schema.personChanged,
    run: setRole,
    secondPerson: {},
    toAnswer: toChanged,
    command: {
      usage: 'operator set-role <name>',
      inCells: () => ({}),
      examples: ['set-role bo --role finance'],
      fields: { role: ROLE },
      text: personText,
    },
  }),
  operation({
    method: 'POST',
    path: '/people/{name}/disable',
    role: 'admin',
    needsProof: true,
    summary: 'disable an operator; their sessions end at once',
    answer: schema.personChanged,
    run: disablePerson,
    toAnswer: toChanged,
    command: {
      usage: 'operator disable <name>',
      examples: ['disable bo'],
      inCells: () => ({}),
      text: personText,
    },
  }),
  operation({
    method: 'POST',
    path: '/people/{name}/enable',
    role: 'admin',
    needsProof: true,
    summary: 'enable an operator again',
    answer: schema.personChanged,
    run: enablePerson,
    secondPerson: {},
    toAnswer: toChanged,
    command: {
      usage: 'operator enable <name>',
      examples: ['enable bo'],
      inCells: () => ({}),
      text: personText,
    },
  }),
  operation({
    method: 'POST',
    path: '/people/{name}/reset',
    role: 'admin',
    needsProof: true,
    summary: 'remove the password and codes of an operator, and show a new one-time link',
    answer: schema.personWithLink,
    run: async (operator, input, context) => withLink(context, await resetPerson(operator, input)),
    secondPerson: { secrets: linkOf },
    toAnswer: toLinkAnswer,
    command: { usage: 'operator reset <name>', examples: ['reset bo'], text: personWithLinkText },
  }),
  operation({
    method: 'POST',
    path: '/people/{name}/unbind',
    role: 'admin',
    needsProof: true,
    summary: 'unlink an operator from their account at the identity provider; their sessions end',
    answer: schema.personChanged,
    run: unbindPerson,
    secondPerson: {},
    toAnswer: toChanged,
    command: { usage: 'operator unbind <name>', examples: ['unbind bo@example.com'], text: personText },
  }),
];

async function makePerson(
  operator: OperatorWithGateways,
  input: Parameters<typeof createPerson>[1],
  context: Context,
): Promise<PersonWithLink> {
  return withLink(context, await createPerson(operator, input));
}

function withLink({ consoleUrl }: Context, { person, setupToken }: PersonWithToken): PersonWithLink {
  return setupToken === null ? person : { ...person, setupLink: `${consoleUrl()}/setup#${setupToken}` };
}

function linkOf({ setupLink = '' }: PersonWithLink) {
  return { setupLink };
}

function toLinkAnswer({ setupLink = '', ...person }: PersonWithLink) {
  return { person, setupLink };
}

function toChanged({ changed, ...person }: Changed<PersonView>) {
  return { person, changed };
}
