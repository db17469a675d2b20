import { readFile } from 'node:fs/promises';
import { KEY_BYTES } from '@perennial/wire/bridge';
import type { BridgeOptions } from './bridge.js';

export type Env = Readonly<Record<string, string | undefined>>;

/** What is wrong with a setting, in one line. */
export class BadSetting extends Error {}

/** A setting that a bridge cannot do without. */
export function requireSetting(env: Env, name: string): string {
  const value = env[name];
  if (value === undefined || value === '') throw new BadSetting(`${name} is not set`);
  return value;
}

/** What every bridge is told by its environment; README.md has the table. */
export async function readBridgeSettings(env: Env): Promise<Omit<BridgeOptions, 'institution' | 'clock' | 'log'>> {
  return {
    key: await readKey(env),
    databaseUrl: requireSetting(env, 'DATABASE_URL'),
    schema: env['DATABASE_SCHEMA'] || 'bridge',
    serviceNoticeUrl: env['NOTICE_URL'] || undefined,
    host: env['HOST'] || '127.0.0.1',
    port: readPort(env, 'PORT', 8091),
    basePath: readBasePath(env),
    monitoringPort: readPort(env, 'MONITORING_PORT', 9091),
  };
}

async function readKey(env: Env): Promise<Uint8Array> {
  const file = requireSetting(env, 'BRIDGE_KEY_FILE');
  const text = await readFile(file, 'utf8').catch(() => {
    throw new BadSetting(`BRIDGE_KEY_FILE: ${file} cannot be read`);
  });
  const key = Buffer.from(text.trim(), 'base64');
  if (key.length === KEY_BYTES && key.toString('base64') === text.trim()) return key;
  throw new BadSetting(`BRIDGE_KEY_FILE: ${file} must hold ${KEY_BYTES} bytes in base64`);
}

function readPort(env: Env, name: string, usual: number): number {
  const text = env[name] || String(usual);
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw new BadSetting(`${name} must be a port`);
  return Number(text);
}

function readBasePath(env: Env): string {
  const text = env['BASE_PATH'] ?? '';
  if (!/^(\/[\w.~-]+)*$/.test(text)) throw new BadSetting('BASE_PATH must be like /bank, without a slash at its end');
  return text;
}
