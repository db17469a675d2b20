import { execFileSync, spawn } from 'node:child_process';
import { chownSync, copyFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { type Running, watch } from '../../test/support/processes.js';

/** The settings of a unit file: name and value of each line. */
const readLines = (file: string): [name: string, value: string][] =>
  [...readFileSync(file, 'utf8').matchAll(/^(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]);

/** The settings of a unit file, by name. */
export const readUnit = (file: string): ReadonlyMap<string, string> => new Map(readLines(file));

/**
 * Starts an instance of a template unit as systemd does: its command line, user, folder, environment, environment files
 * and credential. The protections of the unit (ProtectSystem and others) are not applied.
 */
export function startUnit(file: string, instance: string, runtime: string): Running {
  const unit = readUnit(file);
  const expand = (value: string) => value.replaceAll('%i', instance).replaceAll('%H', os.hostname());
  const of = (name: string) => expand(unit.get(name) ?? '');
  // A file whose name has a leading dash may be absent.
  const files = readLines(file)
    .filter(
      ([name, value]) => name === 'EnvironmentFile' && (!value.startsWith('-') || existsSync(expand(value.slice(1)))),
    )
    .map(([, value]) => expand(value.replace(/^-/, '')));
  const [uid, gid] = ['-u', '-g'].map((flag) => Number(execFileSync('id', [flag, of('User')], { encoding: 'utf8' })));
  const [credential = '', source = ''] = of('LoadCredential').split(':');
  const credentials = path.join(runtime, `perennial@${instance}`);
  mkdirSync(runtime, { recursive: true, mode: 0o755 });
  rmSync(credentials, { recursive: true, force: true });
  mkdirSync(credentials, { mode: 0o700 });
  copyFileSync(source, path.join(credentials, credential));
  for (const place of [credentials, path.join(credentials, credential)]) chownSync(place, uid ?? -1, gid ?? -1);
  const env = {
    PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
    ...Object.fromEntries(
      of('Environment')
        .split(' ')
        .map((pair) => pair.split('=')),
    ),
    ...Object.assign({}, ...files.map((one) => parseEnv(readFileSync(one, 'utf8')))),
    CREDENTIALS_DIRECTORY: credentials,
  };
  const [command = '', ...args] = of('ExecStart').split(' ');
  return watch(spawn(command, args, { uid, gid, cwd: of('WorkingDirectory'), env, stdio: ['ignore', 'pipe', 'pipe'] }));
}
