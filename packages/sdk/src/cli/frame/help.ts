import { type Command, type Option, optionsOf } from './command.js';
import { align } from './text.js';

const PROGRAM = 'npx perennial-channel';

/** How to get the help of a command or a group; of all of them without one. */
export const helpFor = (about: string): string => [PROGRAM, 'help', about].filter((part) => part !== '').join(' ');

export function listCommands(groups: readonly (readonly [title: string, commands: readonly Command[]])[]): string {
  return [
    `${PROGRAM} COMMAND [OPTIONS]`,
    ...groups.map(([title, commands]) => listUnder(title, commands)),
    `${helpFor('COMMAND')} shows the options of one command, such as: ${helpFor('orders create')}
${PROGRAM} --version prints the version.`,
    ENVIRONMENT,
    EXIT_STATUS,
  ].join('\n\n');
}

/** The commands that begin with the same words. */
export function describeGroup(words: string, commands: readonly Command[]): string {
  const shown = listUnder('Commands', commands);
  return [
    `${PROGRAM} ${words} COMMAND [OPTIONS]`,
    shown,
    `${helpFor(`${words} COMMAND`)} shows the options of one.`,
  ].join('\n\n');
}

const listUnder = (title: string, commands: readonly Command[]): string =>
  `${title}\n${align(
    commands.map(({ name, summary }) => [name, summary]),
    '  ',
  )}`;

const ENVIRONMENT = `The credentials of the channel are read from the first of these that is there:
  the file that --channel names
  the environment: PERENNIAL_BASE_URL, PERENNIAL_APP_ID, PERENNIAL_APP_SECRET, PERENNIAL_AES_KEY, PERENNIAL_CALLBACK_SECRET
  data/demo-channel.json, which npm start writes`;

const EXIT_STATUS = 'Exit status: 0 done; 1 refused or failed; 2 the command was not understood.';

export function describeCommand(command: Command): string {
  const { name, summary, words, notes = [], examples } = command;
  const usage = [PROGRAM, name, words, '[OPTIONS]'].filter((part) => part !== undefined).join(' ');
  const rows = optionsOf(command).map((option) => [writeOption(option), describeOption(option)]);
  return [
    usage,
    summary,
    ...notes,
    `Options\n${align(rows, '  ')}`,
    ...(examples.length > 0 ? [`Examples\n${examples.map((one) => `  ${PROGRAM} ${one}`).join('\n')}`] : []),
  ].join('\n\n');
}

/** With what stands for its value. */
function writeOption({ name, kind, value }: Option): string {
  if (kind === 'flag') return `--${name}`;
  return `--${name} ${value ?? (kind === 'integer' ? 'NUMBER' : 'TEXT')}${kind === 'list' ? ',...' : ''}`;
}

function describeOption({ about, kind, isNeeded, oneOf }: Option): string {
  const values = oneOf === undefined ? '' : `${kind === 'list' ? 'any of' : 'one of'} ${oneOf.join(', ')}`;
  return [isNeeded ? 'needed' : '', about, values].filter((part) => part !== '').join('; ');
}
