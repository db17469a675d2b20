import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { KEY } from '../../../bridge-kit/test/support/world.js';
import type { FakeStripe } from '../fake-stripe.js';

const NODE = fileURLToPath(new URL('bridge-node.mjs', import.meta.url));

/** How far each start moves the clock ahead: more than a process's lease on a number. */
const AHEAD_PER_START_MS = 21_000;

export interface BridgeProcess {
  readonly url: string;
  readonly pidFile: string;
  /** The log of all processes started so far. */
  log(): string;
  starts(): number;
  stop(): Promise<void>;
}

export interface BridgeProcessOptions {
  readonly fake: FakeStripe;
  readonly databaseUrl: string;
  readonly schema: string;
  readonly port: number;
  readonly noticeUrl: string;
  readonly settings?: Readonly<Record<string, string>>;
}

/** Starts the bridge as an operator does, and restarts it whenever it dies. */
export async function startBridgeProcess(options: BridgeProcessOptions): Promise<BridgeProcess> {
  const { fake, databaseUrl, schema, port, noticeUrl, settings } = options;
  const folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-stripe-'));
  const file = async (name: string, text: string) => {
    await writeFile(path.join(folder, name), `${text}\n`, { mode: 0o600 });
    return path.join(folder, name);
  };
  const kills = path.join(folder, 'kills');
  await mkdir(kills);
  const env = {
    BRIDGE_KEY_FILE: await file('bridge.key', KEY.toString('base64')),
    STRIPE_SECRET_KEY_FILE: await file('stripe.key', fake.secretKey),
    STRIPE_WEBHOOK_SECRET_FILE: await file('webhook.secret', fake.webhookSecret),
    STRIPE_API_BASE: fake.url,
    DATABASE_URL: databaseUrl,
    DATABASE_SCHEMA: schema,
    NOTICE_URL: noticeUrl,
    PORT: String(port),
    MONITORING_PORT: '0',
    KILLS_DIR: kills,
    ...settings,
  };
  const pidFile = path.join(folder, 'pid');
  let child: ChildProcess | undefined;
  let [starts, isStopping, log] = [0, false, ''];
  const start = async (): Promise<void> => {
    const ahead = String(AHEAD_PER_START_MS * starts);
    starts += 1;
    child = spawn(process.execPath, [NODE], {
      env: { ...env, CLOCK_AHEAD_MS: ahead },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    await writeFile(pidFile, String(child.pid));
    const { stdout } = child;
    if (stdout === null) throw new Error('no output');
    const lines = createInterface({ input: stdout });
    lines.on('line', (line) => {
      log += `${line}\n`;
    });
    child.once('exit', () => {
      if (!isStopping) start().catch(() => undefined);
    });
    for await (const [line] of onLines(lines)) if (line.includes('"msg":"ready"')) return;
  };
  await start();
  return {
    url: `http://127.0.0.1:${port}`,
    pidFile,
    log: () => log,
    starts: () => starts,
    async stop() {
      isStopping = true;
      const ended = child && child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;
      child?.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function* onLines(lines: ReturnType<typeof createInterface>): AsyncGenerator<[string]> {
  for await (const line of lines) yield [line];
}
