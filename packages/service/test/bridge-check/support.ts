import { perennial } from '../cli/perennial.js';
import { KEY } from '../institution/support.js';

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

/** Without settings, and so without a database. */
export async function checkBridge(url: string, ...args: readonly string[]): Promise<Checked> {
  const settings = { BRIDGE_KEY: KEY.toString('base64') };
  const ran = await perennial(['check-bridge', url, '--json', ...args], settings);
  if (ran.stdout === '') throw new Error(ran.stderr);
  const checked = JSON.parse(ran.stdout);
  const named = (wanted: string) =>
    (checked as Checked).rules.filter(({ verdict }) => verdict === wanted).map(({ rule }) => rule);
  return { code: ran.code, broken: named('broken'), untried: named('untried'), ...checked };
}
