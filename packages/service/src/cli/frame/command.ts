import os from 'node:os';
import type { Writable } from 'node:stream';
import type { Command } from 'commander';
import { type SafeText, toTerminalText } from '../../operations/command/safe-text.js';
import type { MoneyText } from '../../operations/operation.js';
import { formatAmount } from '../../operator/money.js';
import { OperatorError, type OperatorWithGateways } from '../../operator/operator.js';
import { systemClock } from '../../platform/clock.js';
import { toVisibleJson } from '../../platform/escape-invisible.js';
import { needsAdoption, UnconfirmedCopy } from '../../platform/installation/database-identity.js';
import {
  type OpenedDatabase,
  type OpenOptions,
  openDatabaseFromSettings,
} from '../../platform/installation/open-database.js';
import { PlainError } from '../../platform/plain-error.js';
import { type Env, readSettings, type Settings } from '../../platform/settings.js';
import { createGatewaysOnDemand } from './gateways.js';

export interface JsonOption {
  readonly json?: boolean;
}

/** Adds a command with the option --json, and with examples under its help. */
export function addCommand(noun: Command, usage: string, description: string, examples: readonly string[]): Command {
  // A command without a noun, such as `migrate`, is added to the program itself.
  const words = noun.parent ? `perennial ${noun.name()}` : 'perennial';
  const lines = examples.map((example) => `  $ ${words} ${example}`);
  return noun
    .command(usage)
    .description(description)
    .option('--json', 'print one JSON document instead of text')
    .addHelpText('after', `\n${examples.length > 1 ? 'Examples' : 'Example'}:\n${lines.join('\n')}`);
}

export async function openDatabaseForCommand(
  settings: Settings,
  log: (line: string) => void,
  more: Pick<OpenOptions, 'anySchema'> = {},
): Promise<OpenedDatabase> {
  // In a mistyped folder an empty database would be made, and the command would report that all is well.
  return openDatabaseFromSettings(settings, { role: 'tool', mustExist: true, attempts: 3, log, ...more });
}

/** The process that a command runs in. */
export interface Terminal {
  readonly env: Env;
  readonly stdout: Writable & { readonly isTTY?: boolean };
  readonly stderr: Writable;
  /** Makes the exit code 1, although the command has ended without an error. */
  setFailed(): void;
}

/** A check could not be made: that is another exit code than one that was made and has found something. */
export class CannotCheck extends PlainError {
  readonly exitCode = 2;
}

export interface CommandLine {
  /** For commands that use nothing of the service's settings. */
  readonly env: Env;
  readonly stdout: Terminal['stdout'];
  settings(): Settings;
  /** Writes progress to stderr. Writes nothing with --json: then stderr holds one document if the command fails. */
  progress(options: JsonOption): (line: string) => void;
  /** Opens the database of the settings for `act`, and closes it. */
  operate(options: JsonOption, act: (operator: OperatorWithGateways) => Promise<void>): Promise<void>;
  /**
   * Runs `act` and prints the result. A `text` of several lines is a SafeText; any other text is escaped here. The exit code is
   * 1 if the result is not good.
   */
  perform<T>(
    options: JsonOption,
    act: (operator: OperatorWithGateways) => Promise<T>,
    text: (result: T, money: MoneyText) => string | SafeText,
    isGood?: (result: T) => boolean,
  ): Promise<void>;
  /**
   * The same for actions that move money, end something or send something. With ENGINE=off, and on a copy that was not adopted,
   * they are refused before anything is stored: the engine would carry them out later.
   */
  performWithEngine: CommandLine['perform'];
  /** Prints a result, for commands that open no database. */
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
        currency: opened.currency,
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
      // Before closing: a secret that was just made must be printed even if closing fails.
      const money: MoneyText = (cents) => formatAmount(cents, operator.currency);
      show(options, await act(operator), (result) => text(result, money), isGood);
    });

  return {
    env,
    stdout,
    settings,
    progress,
    operate,
    show,
    perform,
    performWithEngine: async (options, act, ...rest) => {
      if (settings().readsOnly) throw new OperatorError('ENGINE is off: nothing is moved, ended or sent');
      const actUnlessCopy: typeof act = async (operator) => {
        if (await needsAdoption(operator.database)) throw new UnconfirmedCopy();
        return act(operator);
      };
      await perform(options, actUnlessCopy, ...rest);
    },
  };
}

/** How the audit table names the user who runs the command. */
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
