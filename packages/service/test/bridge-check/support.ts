import { writeFile } from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import { perennial } from '../cli/perennial.js';
import { KEY, temporaryFolder } from '../institution/support.js';
import { listen } from '../support/listen.js';

export interface Checked {
  readonly code: number | null;
  readonly broken: readonly string[];
  readonly untried: readonly string[];
  readonly rules: readonly {
    readonly rule: string;
    readonly heading: string;
    readonly verdict: string;
    readonly why?: string;
  }[];
  readonly left: readonly { readonly attemptNo: string; readonly why: string }[];
  readonly useless: readonly { readonly option: string; readonly why: string }[];
  readonly prefix: string;
}

/** Writes a file for `--card-file`. */
export async function cardFile(more: object = {}): Promise<string> {
  const file = path.join(await temporaryFolder(), 'card.json');
  const card = { bankCardNo: '62220000', certificateNo: '1', certType: 'ID_CARD', realName: 'Li', bankMobile: '138' };
  await writeFile(file, JSON.stringify({ ...card, ...more }));
  return file;
}

/** Returns a command for `--restart` that calls `restart` in this process. */
export async function restarter(restart: () => Promise<void>): Promise<string> {
  const server = http.createServer(async (_request, response) => {
    await restart();
    response.end();
  });
  return `"${process.execPath}" -e "fetch('http://127.0.0.1:${await listen(server)}/')"`;
}

/** Runs check-bridge with the bridge's key as its only setting, and so without a database. */
export async function checkBridge(url: string, ...args: readonly string[]): Promise<Checked> {
  const settings = { BRIDGE_KEY: KEY.toString('base64') };
  const ran = await perennial(['check-bridge', url, '--json', ...args], settings);
  if (ran.stdout === '') throw new Error(ran.stderr);
  const checked = JSON.parse(ran.stdout);
  const named = (wanted: string) =>
    (checked as Checked).rules.filter(({ verdict }) => verdict === wanted).map(({ rule }) => rule);
  return { code: ran.code, broken: named('broken'), untried: named('untried'), ...checked };
}
