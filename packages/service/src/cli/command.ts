import os from 'node:os';
import type { Command } from 'commander';
import { openFromSettings } from '../db/open.js';
import type { Operator } from '../operator/operator.js';
import { readSettings } from '../settings.js';

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

/** Opens the database as the settings say, acts, and shows what came of it. */
export async function perform<T>(
  { json = false }: JsonOption,
  act: (operator: Operator) => Promise<T>,
  text: (result: T) => string,
): Promise<void> {
  const settings = readSettings();
  const opened = await openFromSettings(settings, {
    role: 'tool',
    attempts: 3,
    // With --json a failure is one document on stderr, so nothing else may be there.
    log: json ? () => undefined : (line) => process.stderr.write(`${line}\n`),
  });
  try {
    const result = await act({
      database: opened.database,
      vault: opened.vault,
      environment: settings.environment,
      actor: `cli:${userName()}@${os.hostname()}`,
      localCallbacks: settings.databaseUrl === undefined,
    });
    // Before closing: a secret that was just made must be seen even if the database then goes away.
    process.stdout.write(`${json ? JSON.stringify(result) : text(result)}\n`);
  } finally {
    await opened.close();
  }
}

/** A list is a document of its own, with room for more beside the items. */
export async function performList<T>(
  options: JsonOption,
  act: (operator: Operator) => Promise<readonly T[]>,
  text: (items: readonly T[]) => string,
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
