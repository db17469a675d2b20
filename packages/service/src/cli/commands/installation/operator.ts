import { text as readAll } from 'node:stream/consumers';
import type { Command } from 'commander';
import { OperatorError } from '../../../operator/operator.js';
import {
  createPerson,
  disablePerson,
  enablePerson,
  listPeople,
  type PersonWithToken,
  resetPerson,
  SETUP_HOURS,
  setRole,
} from '../../../operator/people/people.js';
import type { PersonView } from '../../../operator/people/people-sql.js';
import type { Settings } from '../../../platform/settings.js';
import { addCommand, type CommandLine, type JsonOption } from '../../frame/command.js';
import { type SafeText, safeText } from '../../frame/safe-text.js';
import { record, table } from '../../frame/table.js';

const ROLES_TEXT = 'viewer, support, finance or admin';

export function addOperatorCommands(program: Command, commandLine: CommandLine): void {
  const { perform, performList, settings } = commandLine;
  const operator = program.command('operator').description('people who may sign in to the console');

  addCommand(
    operator,
    'create <name>',
    'make an account, and show a one-time link by which its owner sets a password',
    ['create ann --role admin', 'create bo --role support --password-stdin < password.txt'],
  )
    .requiredOption('--role <role>', ROLES_TEXT)
    .option('--password-stdin', 'read the password from standard input instead of making a link')
    .action(async (name: string, { json = false, role, passwordStdin }: CreateOptions) => {
      const password = passwordStdin ? await readPassword() : undefined;
      const input = { name, role, ...(password === undefined ? {} : { password }) };
      await perform(
        { json },
        async (by) => withLink(settings(), await createPerson(by, input)),
        (made) => personWithLinkText(made),
      );
    });

  addCommand(operator, 'list', 'everybody who may sign in', ['list']).action(async (options: JsonOption) => {
    await performList(options, listPeople, peopleTable);
  });

  addCommand(operator, 'set-role <name>', 'give somebody another role; their sessions end', [
    'set-role bo --role finance',
  ])
    .requiredOption('--role <role>', ROLES_TEXT)
    .action(async (name: string, { json = false, role }: CreateOptions) => {
      await perform({ json }, (by) => setRole(by, { name, role }), personText);
    });

  addCommand(operator, 'disable <name>', 'let somebody sign in no more; their sessions end at once', [
    'disable bo',
  ]).action(async (name: string, options: JsonOption) => {
    await perform(options, (by) => disablePerson(by, { name }), personText);
  });

  addCommand(operator, 'enable <name>', 'let somebody sign in again', ['enable bo']).action(
    async (name: string, options: JsonOption) => {
      await perform(options, (by) => enablePerson(by, { name }), personText);
    },
  );

  addCommand(operator, 'reset <name>', 'end password and codes of somebody who has lost them, and show a new link', [
    'reset bo',
  ]).action(async (name: string, options: JsonOption) => {
    await perform(
      options,
      async (by) => withLink(settings(), await resetPerson(by, { name })),
      (made) => personWithLinkText(made),
    );
  });
}

interface CreateOptions extends JsonOption {
  readonly role: string;
  readonly passwordStdin?: boolean;
}

async function readPassword(): Promise<string> {
  const given = (await readAll(process.stdin)).replace(/\r?\n$/, '');
  if (given === '') throw new OperatorError('there is no password on standard input');
  return given;
}

interface PersonWithLink extends PersonView {
  readonly setupLink?: string;
}

/** A command does not know the port that a service has taken, only its settings. */
function withLink(
  { consoleUrl, publicUrl, host, port, consoleHost, consolePort }: Settings,
  { person, setupToken }: PersonWithToken,
): PersonWithLink {
  if (setupToken === null) return person;
  const address = consolePort === undefined ? { host, port } : { host: consoleHost, port: consolePort };
  const own = consolePort === undefined ? publicUrl : undefined;
  const base = consoleUrl ?? `${own ?? `http://${address.host}:${address.port}`}/console`;
  return { ...person, setupLink: `${base}/setup#${setupToken}` };
}

function personText({
  name,
  role,
  status,
  hasPassword,
  hasTotp,
  lockedUntil,
  lastSignInAt,
  createdBy,
}: PersonView): SafeText {
  return record([
    ['name', name],
    ['role', role],
    ['status', status],
    ['password', hasPassword ? 'set' : 'not set yet'],
    ['codes', hasTotp ? 'set up' : 'not set up'],
    ['locked until', lockedUntil ?? '-'],
    ['last sign-in', lastSignInAt ?? '-'],
    ['made by', createdBy],
  ]);
}

function personWithLinkText({ setupLink, ...person }: PersonWithLink): SafeText {
  if (setupLink === undefined) return personText(person);
  return safeText`${personText(person)}\n\nThe password is set here, once and within ${SETUP_HOURS} hours:\n\n  ${setupLink}`;
}

function peopleTable(people: readonly PersonView[]): SafeText {
  return table(
    ['NAME', 'ROLE', 'STATUS', 'PASSWORD', 'CODES', 'LAST SIGN-IN'],
    people.map(({ name, role, status, hasPassword, hasTotp, lastSignInAt }) => [
      name,
      role,
      status,
      hasPassword ? 'set' : 'not set yet',
      hasTotp ? 'set up' : '-',
      lastSignInAt ?? '-',
    ]),
  );
}
