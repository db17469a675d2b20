import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { SettingsError } from '../settings/values.js';
import { DURABLE_COMMITS, isSetByService, type SessionSettings } from './session.js';

const SSL_MODES = ['disable', 'require', 'verify-ca', 'verify-full'] as const;
const PARAMETERS = ['host', 'port', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'options'] as const;
type Parameters = Partial<Record<(typeof PARAMETERS)[number], string>>;

/** Parses DATABASE_URL. Error messages quote only parameter names and values that are not secret. */
export function readDatabaseUrl(url: string) {
  const { hostname, port, username, password, pathname, searchParams } = new URL(url);
  const parameters = readParameters(searchParams);
  return {
    host: parameters.host ?? decodePercent(hostname.replace(/^\[(.+)\]$/, '$1')),
    port: readPort(parameters.port ?? port),
    user: decodePercent(username) || undefined,
    password: decodePercent(password) || undefined,
    database: decodePercent(pathname.slice(1)) || undefined,
    ssl: readTlsOptions(parameters),
    /** Settings from `options`. They are set by a statement, because a pooler may refuse or drop startup options. */
    settings: readSessionSettings(parameters.options ?? ''),
  };
}

function readParameters(searchParams: URLSearchParams): Parameters {
  const parameters: Parameters = {};
  for (const [name, value] of searchParams) {
    const known = PARAMETERS.find((one) => one === name);
    if (known === undefined) refuse(`parameter ${name} is unknown; known are ${PARAMETERS.join(', ')}`);
    parameters[known] = value;
  }
  return parameters;
}

function readPort(text: string): number {
  if (text === '') return 5432;
  const port = Number(text);
  return /^\d+$/.test(text) && port > 0 && port < 65_536 ? port : refuse('port must be a number from 1 to 65535');
}

/**
 * Supports four of libpq's modes. Refuses libpq's other modes, because with those modes a connection may or may not be
 * encrypted.
 */
function readTlsOptions({ sslmode, sslrootcert, sslcert, sslkey }: Parameters): false | ConnectionOptions {
  const files = { sslrootcert, sslcert, sslkey };
  const nameOfFile = Object.entries(files).find(([, file]) => file !== undefined)?.[0];
  const mode = SSL_MODES.find((one) => one === (sslmode ?? 'disable'));
  if (mode === undefined) refuse(`sslmode must be one of ${SSL_MODES.join(', ')}`);
  if (mode === 'disable') {
    return nameOfFile === undefined
      ? false
      : refuse(`${nameOfFile} needs an sslmode of ${SSL_MODES.slice(1).join(', ')}`);
  }
  if (mode === 'verify-ca' && sslrootcert === undefined) refuse('sslmode=verify-ca needs sslrootcert');
  if ((sslcert === undefined) !== (sslkey === undefined)) refuse('sslcert and sslkey must be set together');
  return {
    ...(sslrootcert === undefined ? {} : { ca: readTlsFile('sslrootcert', sslrootcert) }),
    ...(sslcert === undefined ? {} : { cert: readTlsFile('sslcert', sslcert) }),
    ...(sslkey === undefined ? {} : { key: readTlsFile('sslkey', sslkey) }),
    rejectUnauthorized: mode !== 'require' || sslrootcert !== undefined,
    ...(mode === 'verify-full' ? {} : { checkServerIdentity: () => undefined }),
  };
}

function readTlsFile(parameter: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    return refuse(`${parameter} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}

/** Parses `-c name=value`, `-cname=value` and `--name=value` like PostgreSQL, with backslash escapes. */
function readSessionSettings(options: string): SessionSettings {
  const words = options.match(/(?:\\.|[^\s\\])+/gs)?.map((word) => word.replace(/\\(.)/gs, '$1')) ?? [];
  const settings: Record<string, string> = {};
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    const text = word === '-c' ? (words.shift() ?? '') : word.replace(/^(-c|--)/, '');
    const [, given, value] = /^([A-Za-z_][\w.-]*)=(.*)$/s.exec(text) ?? [];
    // PostgreSQL treats a dash in a setting's name as an underscore.
    const name = given?.replaceAll('-', '_');
    if (name === undefined || value === undefined || !/^(-c|--)/.test(word)) {
      refuse('options must be settings such as -c search_path=perennial');
    }
    if (isSetByService(name)) refuse(`options must not contain ${name}, because the service sets it`);
    if (name.toLowerCase() === 'synchronous_commit' && !DURABLE_COMMITS.includes(value)) {
      refuse('synchronous_commit in options must be on, remote_write or remote_apply');
    }
    settings[name] = value;
  }
  return settings;
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return refuse('a % must be written as %25');
  }
}

function refuse(why: string): never {
  throw new SettingsError(`DATABASE_URL: ${why}`);
}
