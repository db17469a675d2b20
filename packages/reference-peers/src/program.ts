import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { FAULTS } from './institution/faults.js';
import { startInstitution } from './institution/institution.js';
import type { ReferenceProgram } from './peer.js';
import { startSupplier } from './supplier.js';

const USAGE = {
  institution: `Usage: perennial-institution [options]

Runs the reference payment institution until Ctrl-C. It moves no money and needs no database.

  --port <n>          port to listen on, 0 for any free port (default: 8090)
  --host <address>    address to listen on (default: 127.0.0.1)
  --data-dir <folder> folder of its ledger (default: data/institution)
  --key-file <file>   key shared with the service, 32 bytes in base64 (default: bridge.key in the data folder, created if missing)
  --currency <code>   currency of every amount (default: CNY)
  --notice-url <url>  where notices are sent; without it results must be queried
  --control           serve GET /ledger and POST /control
`,
  supplier: `Usage: perennial-supplier [options]

Runs the reference supplier of codes until Ctrl-C. Its codes are worthless, and it needs no database.

  --port <n>          port to listen on, 0 for any free port (default: 8091)
  --host <address>    address to listen on (default: 127.0.0.1)
  --data-dir <folder> folder of its ledger (default: data/supplier)
  --key-file <file>   key shared with the service, 32 bytes in base64 (default: supplier.key in the data folder, created if missing)
  --control           serve GET /ledger and POST /control
`,
};

const COMMON = {
  help: { type: 'boolean' },
  port: { type: 'string' },
  host: { type: 'string', default: '127.0.0.1' },
  'data-dir': { type: 'string' },
  'key-file': { type: 'string' },
  control: { type: 'boolean', default: false },
} as const;

/** The main function of `perennial-institution`. */
export async function runInstitution(): Promise<void> {
  await run('institution', async () => {
    const options = { ...COMMON, currency: { type: 'string' }, 'notice-url': { type: 'string' } } as const;
    const { values } = parseArgs({ options });
    if (values.help === true) return USAGE.institution;
    const { 'notice-url': noticeUrl, currency = 'CNY' } = values;
    const common = readCommon(values, { port: 8090, folder: 'data/institution', keyFile: 'bridge.key' });
    const more = { currency, ...(noticeUrl === undefined ? {} : { noticeUrl }) };
    const program = await startInstitution({ ...common, ...more });
    const faults = FAULTS.map(({ tail, name, does }) => `  ${tail}  ${name.padEnd(23)} ${does}\n`).join('');
    say(`
The reference institution is ready. It moves no money.

${describe(program, 'Bridge', common)}  Currency  ${currency}
  Notices   ${noticeUrl ?? 'none are sent'}

${faults}
  A tail is the last four characters of the bound card, or of a shared agreement number.
`);
    return program;
  });
}

/** The main function of `perennial-supplier`. */
export async function runSupplier(): Promise<void> {
  await run('supplier', async () => {
    const { values } = parseArgs({ options: COMMON });
    if (values.help === true) return USAGE.supplier;
    const common = readCommon(values, { port: 8091, folder: 'data/supplier', keyFile: 'supplier.key' });
    const program = await startSupplier(common);
    say(`\nThe reference supplier is ready. Its codes buy nothing.\n\n${describe(program, 'Supplier', common)}`);
    return program;
  });
}

async function run(name: string, start: () => Promise<ReferenceProgram | string>): Promise<void> {
  try {
    const program = await start();
    if (typeof program === 'string') {
      process.stdout.write(program);
      return;
    }
    await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
    await program.stop();
  } catch (error) {
    say(`perennial-${name}: ${error instanceof Error ? error.message : error}\n`);
    process.exitCode = 1;
  }
}

interface Given {
  readonly port?: string;
  readonly host: string;
  readonly 'data-dir'?: string;
  readonly 'key-file'?: string;
  readonly control: boolean;
}

function readCommon(given: Given, usual: { readonly port: number; readonly folder: string; readonly keyFile: string }) {
  const port = Number(given.port ?? usual.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error('--port must be 0 to 65535');
  const dataDir = path.resolve(given['data-dir'] ?? usual.folder);
  const keyPath = path.resolve(given['key-file'] ?? path.join(dataDir, usual.keyFile));
  const { host, control } = given;
  return { port, host, dataDir, keyPath, key: readOrCreateKey(keyPath), control, clock: { now: () => Date.now() } };
}

function readOrCreateKey(file: string): Buffer {
  try {
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  const key = Buffer.from(readFileSync(file, 'utf8').trim(), 'base64');
  if (key.length !== 32) throw new Error(`${file} must hold 32 bytes in base64`);
  return key;
}

function describe(
  { url }: ReferenceProgram,
  name: string,
  { keyPath, dataDir, control }: ReturnType<typeof readCommon>,
): string {
  return `  ${name.padEnd(9)} ${url}
  Key       ${keyPath}
  Ledger    ${dataDir}
  Control   ${control ? `${url}/control, ${url}/ledger` : 'off'}
`;
}

/** Writes to stderr, where the service writes its messages to operators. */
function say(text: string): void {
  process.stderr.write(text);
}
