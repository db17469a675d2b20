import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { KEY_BYTES } from '@perennial/wire/bridge';
import { BadSetting } from './bad-setting.js';
import type { BridgeOptions } from './bridge.js';
import type { ServerCertificates } from './server/signed-server.js';

export type Env = Readonly<Record<string, string | undefined>>;

export function readEnvironment(): Env {
  return process.env;
}

/** Returns a setting. Throws BadSetting if it is missing. */
export function requireSetting(env: Env, name: string): string {
  const value = env[name];
  if (value === undefined || value === '') throw new BadSetting(`${name} is not set`);
  return value;
}

const LEVELS = ['debug', 'info', 'warn', 'error'];

/** Returns LOG_LEVEL, or info if it is missing or invalid. A message about an invalid level is thus logged too. */
export function readLogLevel(env: Env): string {
  return LEVELS.find((level) => level === env['LOG_LEVEL']) ?? 'info';
}

/** Reads the settings that every bridge has. README.md lists them. */
export async function readBridgeSettings(env: Env): Promise<Omit<BridgeOptions, 'institution' | 'clock' | 'log'>> {
  const { LOG_LEVEL: level } = env;
  if (level && !LEVELS.includes(level))
    throw new BadSetting(`LOG_LEVEL must be one of ${LEVELS.join(', ')}, but is "${level}"`);
  return {
    key: await readSecretFile(env, 'BRIDGE_KEY_FILE', parseKey),
    databaseUrl: requireSetting(env, 'DATABASE_URL'),
    schema: env['DATABASE_SCHEMA'] || 'bridge',
    serviceNoticeUrl: env['NOTICE_URL'] || undefined,
    host: env['HOST'] || '127.0.0.1',
    port: readPort(env, 'PORT', 8091),
    basePath: readBasePath(env),
    monitoringPort: readPort(env, 'MONITORING_PORT', 9091),
    keepDays: readKeepDays(env),
    readCertificates: CERTIFICATE_SETTINGS.some((name) => env[name]) ? () => readCertificates(env) : undefined,
  };
}

const CERTIFICATE_SETTINGS = ['TLS_CERT_FILE', 'TLS_KEY_FILE', 'TLS_CLIENT_CA_FILE'];

async function readCertificates(env: Env): Promise<ServerCertificates> {
  const cert = await readSecretFile(env, 'TLS_CERT_FILE', checkCertificates);
  const key = await readSecretFile(env, 'TLS_KEY_FILE', checkKey);
  if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) {
    throw new BadSetting('TLS_KEY_FILE is not the key of the first certificate in TLS_CERT_FILE');
  }
  if (!env['TLS_CLIENT_CA_FILE']) return { cert, key };
  return { cert, key, clientCa: await readSecretFile(env, 'TLS_CLIENT_CA_FILE', checkCertificates) };
}

/** Parses each certificate, because TLS would ignore an unreadable certificate after the first. */
function checkCertificates(text: string): string {
  const parts = text.split(/(?=-----BEGIN )/).filter((part) => part.startsWith('-----BEGIN CERTIFICATE-----'));
  if (parts.length === 0) throw new Error('the file must contain certificates in PEM');
  for (const part of parts) new X509Certificate(part);
  return text;
}

function checkKey(text: string): string {
  createPrivateKey(text);
  return text;
}

/** Reads the file that a setting names. `read` must throw if the content is invalid, and must not quote it. */
export async function readSecretFile<T>(env: Env, name: string, read: (text: string) => T): Promise<T> {
  const file = requireSetting(env, name);
  const text = await readFile(file, 'utf8').catch(() => {
    throw new BadSetting(`${name}: ${file} cannot be read`);
  });
  try {
    return read(text.trim());
  } catch (error) {
    throw new BadSetting(`${name}: ${file}: ${error instanceof Error ? error.message : 'it cannot be read'}`);
  }
}

function parseKey(text: string): Uint8Array {
  const key = Buffer.from(text, 'base64');
  if (key.length === KEY_BYTES && key.toString('base64') === text) return key;
  throw new Error(`the file must contain ${KEY_BYTES} bytes in base64`);
}

function readPort(env: Env, name: string, usual: number): number {
  const text = env[name] || String(usual);
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    throw new BadSetting(`${name} must be 0 to 65535, but is "${text}"`);
  return Number(text);
}

/**
 * The minimum number of days for which the book keeps records. 30 days after a debit or refund, the service no longer
 * resends the number of the debit or refund, and the statement that lists it has been reconciled.
 */
const LEAST_KEEP_DAYS = 30;

function readKeepDays(env: Env): number {
  const text = env['KEEP_DAYS'] || '400';
  if (/^\d{1,5}$/.test(text) && Number(text) >= LEAST_KEEP_DAYS) return Number(text);
  throw new BadSetting(`KEEP_DAYS must be a number of days, ${LEAST_KEEP_DAYS} at least`);
}

function readBasePath(env: Env): string {
  const text = env['BASE_PATH'] ?? '';
  if (!/^(\/[\w.~-]+)*$/.test(text)) throw new BadSetting('BASE_PATH must be like /bank, without a trailing slash');
  return text;
}
