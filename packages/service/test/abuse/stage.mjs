import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openBeside } from '../../bench/channel.mjs';
import { descendantsOf } from '../../bench/cpu.mjs';
import { runCommand } from '../../dist/cli/run.js';
import { caller, exchange, unique } from './caller.mjs';

const here = (file) => fileURLToPath(new URL(file, import.meta.url));
const START_LIMIT_MS = 120_000;
const STOP_LIMIT_MS = 20_000;

/** What the node may have: past it V8 gives up, and the process with it. */
const HEAP_MB = 1024;

/** Nothing of the surrounding settings. */
const ENVIRONMENT = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', NODE_ENV: 'production' };

/** Nobody is to meet a rate limit unless the attack is about rates. */
const GENEROUS = { rate: 100_000, burst: 1_000_000 };
const PRODUCT = 'TEST_SPU_001';

/**
 * A service of its own with an embedded database in a temporary folder, a bystander's channel, and an operator's command
 * line beside it. `close` ends every process that was started here and removes the folder.
 */
export async function openStage(signal) {
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'perennial-abuse-'));
  const logFile = path.join(dataDir, 'service.log');
  const log = await open(logFile, 'a');
  // It leads a group of its own: Ctrl-C reaches only us, and it is then asked to stop once. If we are gone, even by
  // kill -9, it stops as well.
  const child = spawn(
    process.execPath,
    ['--import', here('../../bench/end-with-parent.mjs'), here('../../dist/program/main.js')],
    {
      env: {
        ...ENVIRONMENT,
        NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}`,
        DATA_DIR: dataDir,
        PORT: '0',
        LOG_LEVEL: 'warn',
      },
      stdio: ['pipe', log.fd, log.fd],
      detached: true,
    },
  );
  const ended = new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve(`died (${signal ?? code})`));
    child.once('error', (error) => resolve(`never ran (${error.message})`));
  });
  let beside;

  async function close() {
    await stopService(child, ended);
    // Whoever leaves last stops the database: if the node has died, that is us.
    await beside?.close().catch(() => undefined);
    await log.close();
    await rm(dataDir, { recursive: true, force: true });
  }

  /** What the command line answers, with --json. In this process: a new one for each takes longer than all its work. */
  async function perennial(...args) {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const env = { ...ENVIRONMENT, DATA_DIR: dataDir };
    const code = await runCommand([...args, '--json'], { env, stdout, stderr });
    if (code !== 0) throw new Error(`perennial ${args.slice(0, 2).join(' ')} failed: ${stderr.read()}`);
    return JSON.parse(stdout.read());
  }

  try {
    const { baseUrl } = await fileOf(child, path.join(dataDir, 'demo-channel.json'), { logFile, signal });
    beside = await openBeside(dataDir);

    /** A new channel: its credentials and its id. */
    async function channel({ products = [PRODUCT], rate = GENEROUS.rate, burst = GENEROUS.burst } = {}) {
      const appId = unique('test_abuse').replaceAll('-', '_');
      const limits = ['--rate', String(rate), '--burst', String(burst)];
      const made = await perennial('channel', 'create', '--name', 'Abuse', '--app-id', appId, ...limits);
      for (const product of products) await perennial('channel', 'authorize-product', appId, product);
      return made;
    }

    const bystander = await channel();
    const logIn = async (options) => caller(baseUrl, await channel(options)).logIn();
    let usual;
    return {
      baseUrl,
      pid: child.pid,
      bystander,
      /** Direct SQL. */
      database: beside.database,
      perennial,
      /** A channel that can call and has nothing special, the same for all attacks. */
      usualAttacker() {
        usual ??= logIn();
        return usual;
      },
      /** A channel of the attack's own. */
      ownAttacker: logIn,
      /** Resolves with how, when the node has died. */
      ended,
      hasEnded: () => hasEnded(child),
      /** Whether the node still answers, or how it died. */
      async state() {
        const probe = { method: 'GET', path: '/healthz', headers: {}, body: undefined };
        const { status } = await exchange(baseUrl, probe);
        if (status === 200) return 'alive';
        return hasEnded(child) ? ended : 'does not answer';
      },
      /** What the service wrote to its log so far. */
      log: () => readFile(logFile, 'utf8'),
      /** What an attack has made that another one can use too. */
      kept: new Map(),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The bystander's process. `begin` resolves once it calls, `end` with what it saw. */
export function startBystander({ baseUrl, bystander, pid }) {
  const child = fork(here('bystander.mjs'), { env: ENVIRONMENT, execArgv: [], detached: true });
  const gone = once(child, 'exit').then(() => Promise.reject(new Error('the bystander has died')));
  gone.catch(() => undefined);
  const ask = async (command, options = {}) => {
    child.send({ command, ...options });
    const [{ result, error }] = await Promise.race([once(child, 'message'), gone]);
    if (error !== undefined) throw new Error(error);
    return result;
  };
  return {
    begin: () => ask('begin', { baseUrl, channel: bystander, pid }),
    end: () => ask('end'),
    close: () => child.kill('SIGKILL'),
  };
}

const hasEnded = (child) => child.exitCode !== null || child.signalCode !== null;

async function stopService(child, ended) {
  if (hasEnded(child) || child.pid === undefined) return;
  const family = descendantsOf(child.pid);
  child.kill('SIGTERM');
  const inTime = await Promise.race([ended, delay(STOP_LIMIT_MS, undefined, { ref: false })]);
  if (inTime !== undefined) return;
  for (const pid of [child.pid, ...family]) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended meanwhile.
    }
  }
  await ended;
}

/** Written whole once the service listens, and names the port that was free. */
async function fileOf(child, file, { logFile, signal }) {
  for (const since = Date.now(); !hasEnded(child); await delay(50)) {
    signal.throwIfAborted();
    const text = await readFile(file, 'utf8').catch(() => undefined);
    if (text !== undefined) return JSON.parse(text);
    if (Date.now() - since > START_LIMIT_MS) break;
  }
  throw new Error(`the service did not start:\n${await readFile(logFile, 'utf8').catch(() => '')}`);
}
