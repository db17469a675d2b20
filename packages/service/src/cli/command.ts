import os from 'node:os';
import type { Command } from 'commander';
import { systemClock } from '../clock.js';
import { type OpenedDatabase, type OpenOptions, openFromSettings } from '../db/open.js';
import type { OperatorWithGateways } from '../operator/operator.js';
import { readSettings, type Settings } from '../settings.js';
import { jsonText } from '../visible.js';
import { gatewaysOnDemand } from './gateways.js';
import { type Shown, terminalText } from './shown.js';

export interface JsonOption {
  readonly json?: boolean;
}

/** A command with what all of them have: --json, and examples under its help. */
export function verb(noun: Command, usage: string, description: string, examples: readonly string[]): Command {
  const lines = examples.map((example) => `  $ perennial ${noun.name()} ${example}`);
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

export function print<T>({ json = false }: JsonOption, result: T, text: (result: T) => string | Shown): void {
  process.stdout.write(`${json ? jsonText(result) : terminalText(text(result))}\n`);
}

/** Opens the database as the settings say, and acts. */
export async function operate(
  options: JsonOption,
  act: (operator: OperatorWithGateways) => Promise<void>,
): Promise<void> {
  const settings = readSettings();
  const opened = await openForCommand(settings, progress(options));
  const gateways = gatewaysOnDemand(opened, systemClock);
  try {
    await act({
      database: opened.database,
      vault: opened.vault,
      clock: systemClock,
      gateways,
      environment: settings.environment,
      actor: `cli:${userName()}@${os.hostname()}`,
      localCallbacks: settings.databaseUrl === undefined,
    });
  } finally {
    await gateways.close();
    await opened.close();
  }
}

/** Acts, and shows what came of it. A `text` of more than one line is Shown; whatever is not is made visible here. */
export async function perform<T>(
  options: JsonOption,
  act: (operator: OperatorWithGateways) => Promise<T>,
  text: (result: T) => string | Shown,
): Promise<void> {
  await operate(options, async (operator) => {
    const result = await act(operator);
    // Before closing: a secret that was just made must be seen even if the database then goes away.
    print(options, result, text);
  });
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

function userName(): string {
  try {
    return os.userInfo().username;
  } catch {
    // A container may run under a number that no passwd file knows.
    return `uid${process.getuid?.() ?? ''}`;
  }
}
