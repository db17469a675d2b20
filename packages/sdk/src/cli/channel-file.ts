import { readFileSync } from 'node:fs';
import { PerennialClient, type PerennialClientOptions } from '../client.js';
import { type Given, textOf } from './frame/command.js';
import { CommandError, type Io, UsageError } from './frame/io.js';

/** What is needed to be a channel. None of the secrets is ever printed. */
export interface ChannelCredentials {
  readonly baseUrl: string;
  readonly appId: string;
  readonly appSecret: string;
  readonly aesKey: string;
  readonly callbackSecret: string;
  /** The file that it was read from; undefined: the environment. */
  readonly file: string | undefined;
}

const DEFAULT_FILE = 'data/demo-channel.json';

const VARIABLES = {
  baseUrl: 'PERENNIAL_BASE_URL',
  appId: 'PERENNIAL_APP_ID',
  appSecret: 'PERENNIAL_APP_SECRET',
  aesKey: 'PERENNIAL_AES_KEY',
  callbackSecret: 'PERENNIAL_CALLBACK_SECRET',
} as const;
type Part = keyof typeof VARIABLES;
const PARTS = Object.keys(VARIABLES) as Part[];

/** From the file that is named, or else from the environment if it has an app id, or else from the file of npm start. */
export function readChannel({ env }: Io, given: Given): ChannelCredentials {
  const named = textOf(given, 'channel');
  const isFromEnvironment = named === undefined && env[VARIABLES.appId] !== undefined;
  const file = isFromEnvironment ? undefined : (named ?? DEFAULT_FILE);
  const found: Partial<Record<Part, unknown>> =
    file === undefined ? Object.fromEntries(PARTS.map((part) => [part, env[VARIABLES[part]]])) : readFile(file);
  const parts = {
    ...found,
    ...(textOf(given, 'base-url') === undefined ? {} : { baseUrl: textOf(given, 'base-url') }),
  };
  const require = (part: Part): string => {
    const value = parts[part];
    if (typeof value === 'string' && value !== '') return value;
    throw new UsageError(`${file === undefined ? VARIABLES[part] : `${part} in ${file}`} is missing`);
  };
  return {
    baseUrl: require('baseUrl'),
    appId: require('appId'),
    appSecret: require('appSecret'),
    aesKey: require('aesKey'),
    callbackSecret: require('callbackSecret'),
    file,
  };
}

function readFile(file: string): Partial<Record<Part, unknown>> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    throw new UsageError(`${file} cannot be read: it is written by npm start; name another one with --channel`);
  }
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // Said below, without the text.
  }
  throw new CommandError(`${file} is no JSON object`);
}

export function createClient(channel: ChannelCredentials, more: Partial<PerennialClientOptions> = {}): PerennialClient {
  const { baseUrl, appId, appSecret, aesKey } = channel;
  try {
    return new PerennialClient({ baseUrl, appId, appSecret, aesKey, ...more });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}
