import { type Command, type Option, optionsOf } from './command.js';
import { align } from './text.js';

const PROGRAM = 'npx perennial-channel';

export function listCommands(groups: readonly (readonly [title: string, commands: readonly Command[]])[]): string {
  const parts = groups.map(([title, commands]) => {
    const rows = commands.map(({ name, summary }) => [name, summary]);
    return `${title}\n${align(rows, '  ')}`;
  });
  return [
    `${PROGRAM} COMMAND [OPTIONS]`,
    ...parts,
    `${PROGRAM} help COMMAND shows the options of one.`,
    ENVIRONMENT,
    EXIT_STATUS,
  ].join('\n\n');
}

const ENVIRONMENT = `The channel is read from --channel FILE, or from PERENNIAL_BASE_URL, PERENNIAL_APP_ID, PERENNIAL_APP_SECRET,
PERENNIAL_AES_KEY and PERENNIAL_CALLBACK_SECRET, or from data/demo-channel.json, which npm start writes.`;

const EXIT_STATUS = 'Exit status: 0 it was done, 1 it was refused or has failed, 2 the command was not understood.';

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
export function writeOption({ name, kind, value }: Option): string {
  if (kind === 'flag') return `--${name}`;
  return `--${name} ${value ?? (kind === 'integer' ? 'NUMBER' : 'TEXT')}${kind === 'list' ? ',...' : ''}`;
}

export function describeOption({ about, isNeeded, oneOf }: Option): string {
  return [isNeeded ? 'needed' : '', about, oneOf?.join(', ') ?? ''].filter((part) => part !== '').join('; ');
}
