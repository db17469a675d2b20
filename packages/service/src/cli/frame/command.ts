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
import { type OpenOptions, openDatabaseFromSettings } from '../../platform/installation/open-database.js';
import { PlainError } from '../../platform/plain-error.js';
import type { Env } from '../../platform/settings/values.js';
import { readSettings, type Settings } from '../../platform/settings.js';
import { createGatewaysOnDemand } from './gateways.js';

export interface JsonOption {
  readonly json?: boolean;
}

/** Adds a command with the option --json and examples in its help. */
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

/**
 * Returns how a command opens its database. mustExist: otherwise a mistyped folder would get an empty database, and the
 * command would report that all is well.
 */
export const commandOptions = (log: (line: string) => void) =>
  ({ role: 'tool', mustExist: true, attempts: 3, log }) as const satisfies OpenOptions;

export interface Terminal {
  readonly env: Env;
  readonly stdout: Writable & { readonly isTTY?: boolean };
  readonly stderr: Writable;
  /** Sets the exit code to 1, although the command ends without an error. */
  setFailed(): void;
}

/** Thrown if a check could not be made. The exit code differs from that of a check that found a fault. */
export class CannotCheck extends PlainError {
  readonly exitCode = 2;
}

export interface CommandLine {
  /** Environment, for commands that do not use the service's settings. */
  readonly env: Env;
  readonly stdout: Terminal['stdout'];
  settings(): Settings;
  /** Writes progress to stderr, except with --json, because then stderr may contain only the error document. */
  progress(options: JsonOption): (line: string) => void;
  /** Opens the database of the settings, or of `others`, runs `act`, and closes the database. */
  operate(
    options: JsonOption,
    act: (operator: OperatorWithGateways) => Promise<void>,
    others?: Partial<Settings>,
  ): Promise<void>;
  /**
   * Runs `act` and prints the result. A `text` of several lines must be a SafeText; other texts are escaped here. The
   * exit code is 1 if `isGood` returns false.
   */
  perform<T>(
    options: JsonOption,
    act: (operator: OperatorWithGateways) => Promise<T>,
    text: (result: T, money: MoneyText) => string | SafeText,
    isGood?: (result: T) => boolean,
  ): Promise<void>;
  /**
   * Like `perform`, for actions that move money, end something or send something. Refuses before anything is stored if
   * ENGINE=off or the database is a copy that was not adopted, because the engine would carry out a stored action
   * later.
   */
  performWithEngine: CommandLine['perform'];
  /** Prints a result, for commands that do not use `perform`. */
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

  const operate: CommandLine['operate'] = async (options, act, others) => {
    const given = { ...settings(), ...others };
    const opened = await openDatabaseFromSettings(given, commandOptions(progress(options)));
    const gateways = createGatewaysOnDemand(opened, given, systemClock);
    try {
      await act({
        database: opened.database,
        vault: opened.vault,
        keyService: opened.keys.service,
        clock: systemClock,
        gateways,
        environment: given.environment,
        currency: opened.currency,
        actor: actorName(),
        localCallbacks: given.databaseUrl === undefined,
        cells: given.cells,
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
      // Prints before closing the database, because a new secret must be printed even if closing fails.
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
      if (settings().readsOnly)
        throw new OperatorError(
          'ENGINE is off: this command moves money, ends or sends something, and needs ENGINE=on',
        );
      const actUnlessCopy: typeof act = async (operator) => {
        if (await needsAdoption(operator.database)) throw new UnconfirmedCopy();
        return act(operator);
      };
      await perform(options, actUnlessCopy, ...rest);
    },
  };
}

/** Returns the user name and host of the command, for the audit log. */
export function actorName(): string {
  return `cli:${userName()}@${os.hostname()}`;
}

function userName(): string {
  try {
    return os.userInfo().username;
  } catch {
    // A container may run under a user id that is not in passwd.
    return `uid${process.getuid?.() ?? ''}`;
  }
}
