import os from 'node:os';
import type { Command } from 'commander';
import { systemClock } from '../clock.js';
import { type OpenedDatabase, type OpenOptions, openFromSettings } from '../db/open.js';
import { OperatorError, type OperatorWithGateways } from '../operator/operator.js';
import { readSettings, type Settings } from '../settings.js';
import { jsonText } from '../visible.js';
import { gatewaysOnDemand } from './gateways.js';
import { type Shown, terminalText } from './shown.js';

export interface JsonOption {
  readonly json?: boolean;
}

/** A command with what all of them have: --json, and examples under its help. */
export function verb(noun: Command, usage: string, description: string, examples: readonly string[]): Command {
  // A command by itself has the program for its noun.
  const words = noun.parent ? `perennial ${noun.name()}` : 'perennial';
  const lines = examples.map((example) => `  $ ${words} ${example}`);
  return noun
    .command(usage)
    .description(description)
    .option('--json', 'print one JSON document instead of text')
    .addHelpText('after', `\n${examples.length > 1 ? 'Examples' : 'Example'}:\n${lines.join('\n')}`);
}

/** The database of the settings, for a command. */
export async function openForCommand(
  settings: Settings,
  log: (line: string) => void,
  more: Pick<OpenOptions, 'anySchema'> = {},
): Promise<OpenedDatabase> {
  // In a mistyped folder a database of its own would say that all is well.
  return openFromSettings(settings, { role: 'tool', mustExist: true, attempts: 3, log, ...more });
}

/** Where a command says what is going on. With --json a failure is one document on stderr, so nothing else may be there. */
export function progress({ json = false }: JsonOption): (line: string) => void {
  return json ? () => undefined : (line) => process.stderr.write(`${terminalText(line)}\n`);
}

/** Opens the database as the settings say, and acts. */
export async function operate(
  options: JsonOption,
  act: (operator: OperatorWithGateways) => Promise<void>,
): Promise<void> {
  const settings = readSettings();
  const opened = await openForCommand(settings, progress(options));
  const gateways = gatewaysOnDemand(opened, { clock: systemClock, readsOnly: settings.readsOnly });
  try {
    await act({
      database: opened.database,
      vault: opened.vault,
      clock: systemClock,
      gateways,
      environment: settings.environment,
      actor: actor(),
      localCallbacks: settings.databaseUrl === undefined,
    });
  } finally {
    await gateways.close();
    await opened.close();
  }
}

/**
 * Acts, and shows what came of it. A `text` of more than one line is Shown; whatever is not is made visible here. What came of
 * it may be bad news: then the exit code is 1.
 */
export async function perform<T>(
  options: JsonOption,
  act: (operator: OperatorWithGateways) => Promise<T>,
  text: (result: T) => string | Shown,
  isGood: (result: T) => boolean = () => true,
): Promise<void> {
  await operate(options, async (operator) => {
    // Before closing: a secret that was just made must be seen even if the database then goes away.
    show(options, await act(operator), text, isGood);
  });
}

/**
 * The same for what moves money, ends something or has something sent. With ENGINE=off that is refused before anything is
 * written down: the engine would see to it later.
 */
export const performWithEngine: typeof perform = (options, ...rest) => {
  if (readSettings().readsOnly) throw new OperatorError('ENGINE is off: nothing is moved, ended or sent');
  return perform(options, ...rest);
};

/** The same for what needs no database. */
export function show<T>(
  { json = false }: JsonOption,
  result: T,
  text: (result: T) => string | Shown,
  isGood: (result: T) => boolean = () => true,
): void {
  process.stdout.write(`${json ? jsonText(result) : terminalText(text(result))}\n`);
  if (!isGood(result)) process.exitCode = 1;
}

/** A list is a document of its own, with room for more beside the items. */
export async function performList<T>(
  options: JsonOption,
  act: (operator: OperatorWithGateways) => Promise<readonly T[]>,
  text: (items: readonly T[]) => string | Shown,
): Promise<void> {
  await perform(
    options,
    async (operator) => ({ items: await act(operator) }),
    ({ items }) => text(items),
  );
}

/** As the audit table names whoever runs the command. */
export function actor(): string {
  return `cli:${userName()}@${os.hostname()}`;
}

function userName(): string {
  try {
    return os.userInfo().username;
  } catch {
    // A container may run under a number that no passwd file knows.
    return `uid${process.getuid?.() ?? ''}`;
  }
}
