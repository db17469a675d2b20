import { readFileSync } from 'node:fs';
import path from 'node:path';
import { PerennialClient, type PerennialClientOptions } from '../client.js';
import type { Call } from './frame/command.js';
import { type Io, UsageError } from './frame/io.js';
import { visible } from './frame/text.js';

const FILE_NAME = 'demo-channel.json';

const VARIABLES = {
  baseUrl: 'PERENNIAL_BASE_URL',
  appId: 'PERENNIAL_APP_ID',
  appSecret: 'PERENNIAL_APP_SECRET',
  aesKey: 'PERENNIAL_AES_KEY',
  callbackSecret: 'PERENNIAL_CALLBACK_SECRET',
} as const;
type Part = keyof typeof VARIABLES;
const PARTS = Object.keys(VARIABLES) as Part[];
/**
 * If no file is named, and the variable of one of these parts is set and the command needs that part, then all
 * credentials come from the environment.
 */
const MARKS: ReadonlySet<Part> = new Set(['appId', 'callbackSecret']);

/** The parts of a channel's credentials that a command needs. Secrets are never printed. */
type Channel<Needed extends Part> = { readonly [Name in Needed]: string } & {
  /** The file with the credentials. Undefined if they come from environment variables. */
  readonly file: string | undefined;
};

/** The parts needed to call the service. */
const CALLING = ['baseUrl', 'appId', 'appSecret', 'aesKey'] as const;
export type ChannelCredentials = Channel<(typeof CALLING)[number]>;

export const readChannel = (call: Call): ChannelCredentials => readParts(call, CALLING);

/** The parts needed to send events as the service does. */
const SENDING = ['appId', 'aesKey', 'callbackSecret'] as const;
export type EventCredentials = Channel<(typeof SENDING)[number]>;

export const readEventCredentials = (call: Call): EventCredentials => readParts(call, SENDING);

/** Reads the named file, else the environment if a needed part of MARKS is set, else the file that npm start writes. */
function readParts<Needed extends Part>({ io: { env }, given }: Call, needed: readonly Needed[]): Channel<Needed> {
  const { channel: named, baseUrl } = given;
  const isFromEnvironment = named === undefined && needed.some((part) => MARKS.has(part) && env[VARIABLES[part]]);
  const file = isFromEnvironment ? undefined : (named ?? path.join(env['DATA_DIR'] || 'data', FILE_NAME));
  const found: Partial<Record<Part, unknown>> =
    file === undefined
      ? Object.fromEntries(PARTS.map((part) => [part, env[VARIABLES[part]]]))
      : readFile(file, named === undefined);
  const parts = { ...found, ...(baseUrl === undefined ? {} : { baseUrl }) };
  const require = (part: Part): string => {
    const value = parts[part];
    if (typeof value === 'string' && value !== '') return value;
    throw new UsageError(`${file === undefined ? VARIABLES[part] : `${part} in ${file}`} is missing`);
  };
  const read = Object.fromEntries(needed.map((part) => [part, require(part)]));
  return { ...read, file } as Channel<Needed>;
}

function readFile(file: string, isDefault: boolean): Partial<Record<Part, unknown>> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    if (!isDefault) throw new UsageError(`${file} cannot be read`);
    throw new UsageError(
      `${file} cannot be read: start a sandbox, which writes it, set DATA_DIR, or name another file with --channel`,
    );
  }
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Drops the parser's error, because it quotes the text. The error thrown below does not quote it.
  }
  throw new UsageError(
    `${file} is not a JSON object: --channel must name a file of credentials, as a sandbox writes it`,
  );
}

export function createClient(
  io: Io,
  channel: ChannelCredentials,
  more: Partial<PerennialClientOptions>,
): PerennialClient {
  const { baseUrl, appId, appSecret, aesKey } = channel;
  const onWarning = (warning: string, endpoint: string) => io.err(`warning: ${endpoint}: ${visible(warning)}`);
  try {
    return new PerennialClient({ baseUrl, appId, appSecret, aesKey, onWarning, ...more });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}
