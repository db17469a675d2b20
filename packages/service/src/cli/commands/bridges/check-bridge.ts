import { exec } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { DECLINES, DEFAULT_CURRENCY, type Fields, fieldsOf, type WireDecline } from '@perennial/wire/bridge';
import { type Command, CommanderError, InvalidArgumentError } from 'commander';
import type { Given } from '../../../bridge-check/given.js';
import { parseKey, readKeyFile } from '../../../operations/command/files.js';
import { parseCurrencyOption, parseWholeNumber } from '../../../operations/command/parse.js';
import { systemClock } from '../../../platform/clock.js';
import { PlainError } from '../../../platform/plain-error.js';
import { readPeers } from '../../../platform/settings/peers.js';
import type { Env } from '../../../platform/settings/values.js';
import { addCommand, CannotCheck, type CommandLine, type JsonOption } from '../../frame/command.js';
import { checkedText, isGood } from './check-bridge-text.js';

const KEY_VARIABLE = 'BRIDGE_KEY';
const DAY_FORM = /^\d{4}-\d\d-\d\d$/;
/**
 * The prefix is limited to 32 characters: a number has up to 64 characters, and the command appends a counter to the
 * prefix.
 */
const PREFIX_FORM = /^[\x21-\x7e]{1,32}$/;
const RESTART_MS = 120_000;

interface CheckOptions extends JsonOption {
  readonly keyFile?: string;
  readonly agreement?: string;
  readonly appId: string;
  readonly amount: number;
  readonly currency: string;
  readonly prefix?: string;
  readonly declines?: Readonly<Partial<Record<WireDecline, string>>>;
  readonly pending?: string;
  readonly foreign?: string;
  readonly cancelAgreement?: string;
  readonly cardFile?: string;
  readonly smsCode?: string;
  readonly wrongSmsCode?: string;
  readonly statementDay?: string;
  readonly restart?: string;
  readonly listen?: { readonly port: number; readonly host: string };
  readonly wait: number;
  readonly deadline?: number;
  readonly strict?: boolean;
}

const ABOUT = `
Sends the bridge valid and faulty requests, and reports for each rule of docs/bridge.md whether the bridge keeps it.
ON A REAL BRIDGE IT MOVES MONEY: about twenty debits of --amount each on --agreement, which it refunds in the end if the
bridge supports refunds; it lists debits that it could not refund. It needs no database, and no settings but PEER_….

The key, 32 bytes in base64, is read from --key-file, or from ${KEY_VARIABLE} in the environment. Rules whose options are missing are not tried.
Exit code: 0 if every tried rule is kept; 1 if a rule is broken, if an option had no effect, or if a debit could not
be refunded; 2 if the bridge could not be checked at all.`;

export function addCheckBridgeCommand(perennial: Command, commandLine: CommandLine): void {
  addCommand(perennial, 'check-bridge <url>', 'check a bridge against the rules of docs/bridge.md; moves money', [
    'check-bridge http://127.0.0.1:8090 --key-file data/refbank.key --agreement SHARED-8888',
    'check-bridge https://bridge.example/bank --key-file data/bank.key --agreement T-1 --declines FINAL=T-2 --pending T-3 --json',
  ])
    .option('--key-file <file>', 'key shared with the bridge, 32 bytes in base64')
    .option('--agreement <number>', 'agreement that debits succeed on')
    .option('--amount <cents>', 'cents of each debit', parseWholeNumber, 1)
    .option('--currency <code>', 'currency of every amount', parseCurrencyOption, DEFAULT_CURRENCY)
    .option('--app-id <app-id>', 'app id sent with every request', 'check_bridge')
    .option('--prefix <text>', 'prefix of every number that is sent (default: random)')
    .option(
      '--declines <kind=number>',
      'agreement that is declined as RETRYABLE, FINAL or AGREEMENT_INVALID',
      addDecline,
    )
    .option('--pending <number>', 'agreement whose debits are PENDING first')
    .option('--foreign <number>', 'agreement of another channel')
    .option('--cancel-agreement <number>', 'agreement that may be canceled')
    .option('--card-file <file>', 'JSON file with the card to bind: the fields of card, and bankCode if there is one')
    .option('--sms-code <code>', 'code that binds the card')
    .option('--wrong-sms-code <code>', 'a wrong code')
    .option('--listen <port>', 'port, or address:port, on which notices of the bridge are received', parseListen)
    .option('--statement-day <day>', 'day of the statement to read, if today’s does not exist yet')
    .option('--restart <command>', 'command that restarts the bridge')
    .option('--wait <seconds>', 'seconds to wait for the results and notices of pending debits', parseWholeNumber, 60)
    .option(
      '--deadline <ms>',
      'timeout of every answer (default: 8000 for a debit, 10000 for others)',
      parseWholeNumber,
    )
    .option('--strict', 'exit code 1 also when a rule could not be tried')
    .addHelpText('before', `${ABOUT.trim()}\n`)
    .exitOverride((error) => {
      // A wrong option exits with code 2, because code 1 means a finding about the bridge.
      throw error.exitCode === 0 ? error : new CommanderError(2, error.code, error.message);
    })
    .action((url: string, options: CheckOptions) => run(url, options, commandLine));
}

async function run(url: string, options: CheckOptions, { env, progress, show }: CommandLine): Promise<void> {
  const say = progress(options);
  const given = await readGiven(url, options, env, say).catch(cannotCheck);
  if (movesMoney(given)) warnOfMoney(given, say);
  // Loaded lazily, because no other command needs it.
  const { checkBridge } = await import('../../../bridge-check/check-bridge.js');
  const checked = await checkBridge(given).catch(cannotCheck);
  const isStrict = options.strict === true;
  show(options, { ok: isGood(checked, isStrict), ...checked }, checkedText, ({ ok }) => ok);
}

function movesMoney({ agreement, pending, foreign, cancelAgreement, declines }: Given): boolean {
  return [agreement, pending, foreign, cancelAgreement, ...Object.values(declines)].some((one) => one !== undefined);
}

function warnOfMoney({ url, amountCent, prefix }: Given, say: (line: string) => void): void {
  const cents = amountCent === 1 ? '1 cent' : `${amountCent} cents`;
  say(`If ${url} is a real bridge, real money moves: some twenty debits of ${cents} each on the given agreements.`);
  say(`Debits are refunded in the end where possible. Their numbers begin with ${prefix}.`);
}

function cannotCheck(error: unknown): never {
  throw new CannotCheck(error instanceof Error ? error.message : String(error), { cause: error });
}

async function readGiven(
  url: string,
  options: CheckOptions,
  env: Env,
  progress: (line: string) => void,
): Promise<Given> {
  const {
    keyFile,
    appId,
    amount,
    prefix = `CB${randomBytes(6).toString('hex')}`,
    cardFile,
    restart,
    deadline,
  } = options;
  if (amount < 1) throw new CannotCheck(`--amount must be at least 1, but is ${amount}`);
  if (!PREFIX_FORM.test(prefix)) throw new CannotCheck('--prefix must be 1 to 32 visible ASCII characters');
  if (options.statementDay !== undefined && !DAY_FORM.test(options.statementDay)) {
    throw new CannotCheck('--statement-day must be yyyy-MM-dd');
  }
  const { agreement, pending, foreign, cancelAgreement, smsCode, wrongSmsCode, statementDay, listen } = options;
  // Loaded lazily, because few commands need it.
  const { createPeerAccess } = await import('../../../platform/http-client/peer-access.js');
  const { bankCode, card } = cardFile === undefined ? {} : await readCardFile(cardFile);
  const texts = { agreement, pending, foreign, cancelAgreement, smsCode, wrongSmsCode, statementDay, listen, card };
  return {
    ...(withoutUndefined({ ...texts, bankCode }) as Partial<Given>),
    ...{ url, appId, prefix, progress, key: await readKey(keyFile, env), clock: systemClock, amountCent: amount },
    currency: options.currency,
    declines: options.declines ?? {},
    ...(restart === undefined ? {} : { restart: () => runRestart(restart) }),
    waitMs: options.wait * 1000,
    deadlines: { debit: deadline ?? 8_000, other: deadline ?? 10_000 },
    peers: createPeerAccess(readPeers(env)),
  };
}

async function readKey(file: string | undefined, env: Env): Promise<Buffer> {
  if (file !== undefined) {
    const key = await readKeyFile(file);
    if (key === undefined) throw new CannotCheck(`there is no file ${file}`);
    return key;
  }
  const text = env[KEY_VARIABLE];
  if (!text)
    throw new CannotCheck(
      `the key of the bridge is missing: give --key-file, or set ${KEY_VARIABLE} in the environment`,
    );
  return parseKey(text, KEY_VARIABLE);
}

/** Never shows the content of the file, because it contains a card. */
async function readCardFile(file: string): Promise<{ readonly card: Fields; readonly bankCode: string | undefined }> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new CannotCheck(`cannot read the card file: ${error.code}`);
  });
  const { bankCode, ...card } = parseObject(text) ?? {};
  if (Object.keys(card).length === 0)
    throw new CannotCheck(`${file} must contain a JSON object with the fields of card`);
  return { card, bankCode: typeof bankCode === 'string' ? bankCode : undefined };
}

function parseObject(text: string): Fields | undefined {
  try {
    return fieldsOf(JSON.parse(text));
  } catch {
    return undefined;
  }
}

async function runRestart(command: string): Promise<void> {
  await promisify(exec)(command, { timeout: RESTART_MS }).catch((error: NodeJS.ErrnoException) => {
    throw new PlainError(`--restart failed: ${error.message}`);
  });
}

function addDecline(value: string, before: CheckOptions['declines'] = {}): CheckOptions['declines'] {
  const [, word, agreement = ''] = /^([A-Z_]+)=(.+)$/.exec(value) ?? [];
  const kind = DECLINES.find((one) => one === word);
  if (kind === undefined) throw new InvalidArgumentError(`It must be one of ${DECLINES.join(', ')} with =AGREEMENT.`);
  return { ...before, [kind]: agreement };
}

function parseListen(value: string): CheckOptions['listen'] {
  const [, host = '127.0.0.1', port] = /^(?:(.+):)?(\d{1,5})$/.exec(value) ?? [];
  if (port === undefined || Number(port) > 65_535)
    throw new InvalidArgumentError('It must be a port, or address:port.');
  return { host, port: Number(port) };
}

function withoutUndefined(values: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
