import { readFileSync } from 'node:fs';
import { trimSlashes } from '@perennial/wire';
import { PlainError } from '../plain-error.js';
import { isThisMachine } from '../this-machine.js';

/** Thrown if a setting has an unusable value, or names something unusable. The message is one line for operators. */
export class SettingsError extends PlainError {}

export type Env = Readonly<Record<string, string | undefined>>;

export function readText(env: Env, name: string): string | undefined {
  const value = env[name]?.trim();
  return value === undefined || value === '' ? undefined : value;
}

export function readName(env: Env, variable: string): string | undefined {
  const value = readText(env, variable);
  if (value !== undefined && !/^[!-~]{1,64}$/.test(value)) {
    throw new SettingsError(`${variable} must be 1 to 64 visible ASCII characters`);
  }
  return value;
}

export function readList(env: Env, name: string): string[] {
  const value = readText(env, name);
  return value === undefined ? [] : value.split(',').map((part) => part.trim());
}

/** Reads a list, whose values must all be valid. `kind` says in the error message what they must be. */
export function readListOf(env: Env, name: string, kind: string, isValid: (value: string) => boolean): string[] {
  const values = readList(env, name);
  const wrong = values.find((value) => !isValid(value));
  if (wrong !== undefined) throw new SettingsError(`${name} must be ${kind}, but contains "${wrong}"`);
  return values;
}

export function readInteger<Fallback extends number | undefined>(
  env: Env,
  name: string,
  fallback: Fallback,
  min: number,
  max: number,
): number | Fallback {
  const value = readText(env, name);
  if (value === undefined) return fallback;
  const number = Number(value);
  if (!/^\d+$/.test(value) || number < min || number > max) {
    throw new SettingsError(`${name} must be a whole number from ${min} to ${max}, but is "${value}"`);
  }
  return number;
}

export function readChoice<Choice extends string, Fallback extends Choice | undefined>(
  env: Env,
  name: string,
  allowed: readonly Choice[],
  fallback: Fallback,
): Choice | Fallback {
  const value = readText(env, name);
  if (value === undefined) return fallback;
  const found = allowed.find((one) => one === value);
  if (found === undefined) throw new SettingsError(`${name} must be one of ${allowed.join(', ')}, but is "${value}"`);
  return found;
}

/** Reads a secret token. Error messages never quote the value. */
export function readToken(env: Env, name: string): string | undefined {
  const value = readText(env, name);
  if (value !== undefined && !/^[\x21-\x7e]{16,}$/.test(value)) {
    throw new SettingsError(`${name} must be at least 16 characters, without spaces`);
  }
  return value;
}

/** Reads a URL. Error messages never quote the value, because a connection string may contain a password. */
export function readUrl(env: Env, name: string, protocols: readonly string[]): string | undefined {
  const value = readText(env, name);
  if (value === undefined) return undefined;
  if (!URL.canParse(value) || !protocols.includes(new URL(value).protocol)) {
    throw new SettingsError(`${name} must be a URL that starts with ${protocols.join('// or ')}//`);
  }
  return value;
}

/** Reads a URL to which paths are appended. It is no secret: callers, users and the log see it. */
export function readPublicUrl(env: Env, name: string): string | undefined {
  const value = readUrl(env, name, ['http:', 'https:']);
  if (value === undefined) return undefined;
  const { username, password } = new URL(value);
  if (username !== '' || password !== '' || /[?#]/.test(value)) {
    throw new SettingsError(`${name} must be a URL without a user, a password, a query or a fragment`);
  }
  return trimSlashes(value);
}

/** Returns true for an https URL, and for an http URL of this machine. */
export const isHttpsOrHere = ({ protocol, hostname }: URL) =>
  protocol === 'https:' || (protocol === 'http:' && isThisMachine(hostname));

/** Reads a file that a setting names. */
export function readSettingFile(name: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new SettingsError(`${name} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}
