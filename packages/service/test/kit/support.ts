import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import type { Io } from '../../../sdk/src/cli/frame/io.js';
import { main } from '../../../sdk/src/cli/program.js';
import type { Operator } from '../../src/operator/operator.js';
import { setLimits } from '../../src/operator/provisioning/channel-settings.js';
import { provisionDemo } from '../../src/operator/provisioning/demo.js';
import { systemClock } from '../../src/platform/clock.js';
import { openVault } from '../../src/platform/secrets/vault.js';
import { createService } from '../../src/service.js';
import type { ChannelCredentials } from '../support/channel-client.js';
import { freshDatabase } from '../support/database.js';
import { packageRoot } from '../support/processes.js';
import { nodeDeps } from '../support/service.js';

export const CHANNEL_COMMAND = path.join(packageRoot, '..', 'sdk', 'bin', 'perennial-channel.js');

export interface CommandOutcome {
  readonly status: number;
  readonly out: string;
  readonly err: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
  readonly json: any;
}

export interface CommandOptions extends Partial<Pick<Io, 'hasColours' | 'pushTimeoutMs' | 'env' | 'readInput'>> {
  readonly input?: string;
  readonly stop?: AbortSignal;
  /** Called with each line that the command prints. */
  readonly onLine?: (line: string) => void;
}

/** Runs the command line in this process. */
export async function runCommand(argv: readonly string[], options: CommandOptions = {}): Promise<CommandOutcome> {
  const { input = '', stop = new AbortController().signal, onLine, ...more } = options;
  const said: { out: string[]; err: string[] } = { out: [], err: [] };
  const say = (where: string[]) => (line: string) => {
    where.push(line);
    onLine?.(line);
  };
  const status = await main(argv, {
    out: say(said.out),
    err: say(said.err),
    env: {},
    hasColours: false,
    pid: process.pid,
    watchStop: () => stop,
    readInput: async () => input,
    now: () => Date.now(),
    ...more,
  });
  const out = said.out.join('\n');
  return { status, out, err: said.err.join('\n'), json: readJson(out) };
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A sandbox on the real clock, with the demo channel and its file. */
export interface KitService {
  readonly baseUrl: string;
  readonly folder: string;
  /** The file of the demo channel. */
  readonly file: string;
  readonly credentials: ChannelCredentials;
  readonly operator: Operator;
  run(argv: readonly string[], options?: CommandOptions): Promise<CommandOutcome>;
  /** Stops the node. `start` starts another node at the same address. */
  stop(): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
}

export async function kitService(): Promise<KitService> {
  const fresh = await freshDatabase();
  const vault = openVault([randomBytes(32)]);
  const operator: Operator = { database: fresh.database, vault, environment: 'sandbox', actor: 'test' };
  let node: ReturnType<typeof createService> | undefined;
  let port = 0;
  const start = async () => {
    node = createService({ database: fresh.database, vault, clock: systemClock, ...nodeDeps() });
    await node.server.listen({ host: '127.0.0.1', port });
    port = (node.server.server.address() as AddressInfo).port;
  };
  await start();
  const baseUrl = `http://127.0.0.1:${port}`;
  const folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-kit-'));
  const file = await provisionDemo(operator, { dataDir: folder, baseUrl });
  const credentials: ChannelCredentials = JSON.parse(await readFile(file, 'utf8'));
  await setLimits(operator, { appId: credentials.appId, ratePerSecond: 100_000 });
  const stop = async () => node?.stop();
  return {
    baseUrl,
    folder,
    file,
    credentials,
    operator,
    run: (argv, options) => runCommand([...argv, '--channel', file], options),
    start,
    async stop() {
      await stop();
    },
    async close() {
      await stop();
      await fresh.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
