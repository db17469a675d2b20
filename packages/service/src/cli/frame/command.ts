import os from 'node:os';
import type { Writable } from 'node:stream';
import type { Command } from 'commander';
import { OperatorError, type OperatorWithGateways } from '../../operator/operator.js';
import { systemClock } from '../../platform/clock.js';
import { toVisibleJson } from '../../platform/escape-invisible.js';
import {
  type OpenedDatabase,
  type OpenOptions,
  openDatabaseFromSettings,
} from '../../platform/installation/open-database.js';
import { type Env, readSettings, type Settings } from '../../platform/settings.js';
import { createGatewaysOnDemand } from './gateways.js';
import { type SafeText, toTerminalText } from './safe-text.js';

export interface JsonOption {
  readonly json?: boolean;
}

/** A command with what all of them have: --json, and examples under its help. */
export function addCommand(noun: Command, usage: string, description: string, examples: readonly string[]): Command {
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
export async function openDatabaseForCommand(
  settings: Settings,
  log: (line: string) => void,
  more: Pick<OpenOptions, 'anySchema'> = {},
): Promise<OpenedDatabase> {
  // In a mistyped folder a database of its own would say that all is well.
  return openDatabaseFromSettings(settings, { role: 'tool', mustExist: true, attempts: 3, log, ...more });
}

/** What a command has of the process it runs in. */
export interface Terminal {
  readonly env: Env;
  readonly stdout: Writable & { readonly isTTY?: boolean };
  readonly stderr: Writable;
  /** What came of it is bad news: the exit code is 1. */
  setFailed(): void;
}

/** What every command does its work with. */
export interface CommandLine {
  readonly stdout: Terminal['stdout'];
  settings(): Settings;
  /** Where a command says what is going on. With --json a failure is one document on stderr, so nothing else may be there. */
  progress(options: JsonOption): (line: string) => void;
  /** Opens the database as the settings say, and acts. */
  operate(options: JsonOption, act: (operator: OperatorWithGateways) => Promise<void>): Promise<void>;
  /**
   * Acts, and shows what came of it. A `text` of more than one line is Shown; whatever is not is made visible here. What came of
   * it may be bad news: then the exit code is 1.
   */
  perform<T>(
    options: JsonOption,
    act: (operator: OperatorWithGateways) => Promise<T>,
    text: (result: T) => string | SafeText,
    isGood?: (result: T) => boolean,
  ): Promise<void>;
  /**
   * The same for what moves money, ends something or has something sent. With ENGINE=off that is refused before anything is
   * written down: the engine would see to it later.
   */
  performWithEngine: CommandLine['perform'];
  /** A list is a document of its own, with room for more beside the items. */
  performList<T>(
    options: JsonOption,
    act: (operator: OperatorWithGateways) => Promise<readonly T[]>,
    text: (items: readonly T[]) => string | SafeText,
  ): Promise<void>;
  /** The same for what needs no database. */
  show<T>(
    options: JsonOption,
    result: T,
    text: (result: T) => string | SafeText,
    isGood?: (result: T) => boolean,
  ): void;
}

export function createCommandLine({ env, stdout, stderr, setFailed }: Terminal): CommandLine {
  const settings = () => readSettings(env);

  const progress: CommandLine['progress'] = ({ json = false }) =>
    json ? () => undefined : (line) => stderr.write(`${toTerminalText(line)}\n`);

  const operate: CommandLine['operate'] = async (options, act) => {
    const given = settings();
    const opened = await openDatabaseForCommand(given, progress(options));
    const gateways = createGatewaysOnDemand(opened, { clock: systemClock, readsOnly: given.readsOnly });
    try {
      await act({
        database: opened.database,
        vault: opened.vault,
        clock: systemClock,
        gateways,
        environment: given.environment,
        actor: actorName(),
        localCallbacks: given.databaseUrl === undefined,
      });
    } finally {
      await gateways.close();
      await opened.close();
    }
  };

  const show: CommandLine['show'] = ({ json = false }, result, text, isGood = () => true) => {
    stdout.write(`${json ? toVisibleJson(result) : toTerminalText(text(result))}\n`);
    if (!isGood(result)) setFailed();
  };

  const perform: CommandLine['perform'] = (options, act, text, isGood) =>
    operate(options, async (operator) => {
      // Before closing: a secret that was just made must be seen even if the database then goes away.
      show(options, await act(operator), text, isGood);
    });

  return {
    stdout,
    settings,
    progress,
    operate,
    show,
    perform,
    performWithEngine: async (options, ...rest) => {
      if (settings().readsOnly) throw new OperatorError('ENGINE is off: nothing is moved, ended or sent');
      await perform(options, ...rest);
    },
    performList: (options, act, text) =>
      perform(
        options,
        async (operator) => ({ items: await act(operator) }),
        ({ items }) => text(items),
      ),
  };
}

/** As the audit table names whoever runs the command. */
export function actorName(): string {
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
