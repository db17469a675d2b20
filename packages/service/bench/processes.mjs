import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { descendantsOf } from './cpu.mjs';

const here = (file) => fileURLToPath(new URL(file, import.meta.url));
const START_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 20_000;
const TAIL_CHARS = 4000;

/** Ignores the caller's environment, because the bench has its own database, ports and key. */
const ENVIRONMENT = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', NODE_ENV: 'production' };

/** The flags of `npm start`, for the service and its references. */
const FLAGS = ['--max-semi-space-size=64'];

/** Raises the limit of opened redemption pages per IP address, because the bench opens all pages from one address. */
const OPEN = { REDEEM_OPENS_PER_MINUTE: '1000000' };

/**
 * The processes of one bench. `stop` stops them in reverse order. Each leads its own process group, so that Ctrl-C
 * reaches only the bench, which then sends each process one signal.
 */
export function processes() {
  const started = [];
  const outputs = [];
  let stopping = Promise.resolve();
  let onDeath = () => undefined;

  function keep(name, child) {
    const one = { name, child, pid: child.pid, output: '' };
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text) => {
        one.output = (one.output + text).slice(-TAIL_CHARS);
      });
    }
    child.once('exit', (code, signal) => {
      if (!one.isEnding) onDeath(new Error(`${name} ended with ${signal ?? code}`));
    });
    one.ended = new Promise((resolve) => {
      child.once('exit', (code, signal) => resolve(`${name} ended with ${signal ?? code}`));
      // This event also occurs if a message is sent to an ended process.
      child.on('error', (error) => resolve(`${name}: ${error.message}`));
    });
    started.push(one);
    outputs.push(one);
    return one;
  }

  /** Resolves with the answer. Rejects if the process ends first. */
  const orEnd = (one, answer) => Promise.race([answer, one.ended.then((end) => Promise.reject(new Error(end)))]);

  return {
    async startService({ dataDir, profile, logLevel }) {
      const flags = [...FLAGS, '--import', here('end-with-parent.mjs')];
      if (profile !== undefined) flags.push('--cpu-prof', `--cpu-prof-dir=${path.resolve(profile)}`);
      const child = spawn(process.execPath, [...flags, here('../dist/program/main.js')], {
        env: {
          ...ENVIRONMENT,
          ...OPEN,
          DATA_DIR: dataDir,
          PORT: '0',
          LOG_LEVEL: logLevel,
        },
        // Drops the output unless the log level is `warn`. The service still formats and writes its log lines. The
        // bench does not read them, because that would be work that no client causes.
        stdio: ['pipe', logLevel === 'warn' ? 'pipe' : 'ignore', 'pipe'],
        detached: true,
      });
      const one = keep('the service', child);
      // The service writes this file atomically as soon as it listens. The file has the port that the system chose.
      const { baseUrl } = await orEnd(one, fileOf(child, path.join(dataDir, 'demo-channel.json')));
      return { pid: one.pid, baseUrl };
    },

    async startBare(answers) {
      const one = keep('the bare route', forked('bare.mjs'));
      one.child.send(answers);
      const [baseUrl] = await orEnd(one, once(one.child, 'message'));
      return { pid: one.pid, baseUrl };
    },

    async startInstitution({ dataDir, key }) {
      const one = keep('the institution', forked('institution.mjs'));
      one.child.send({ dataDir, key });
      const [url] = await orEnd(one, once(one.child, 'message'));
      return { pid: one.pid, url };
    },

    /** Starts any other program for the duration of the bench. Returns its process id. */
    startProgram: (name, program, args) =>
      keep(name, spawn(program, args, { env: ENVIRONMENT, stdio: ['ignore', 'pipe', 'pipe'], detached: true })).pid,

    startLoad() {
      return this.startHelper('the load', 'load.mjs').ask;
    },

    /** Starts a process that answers each command with one message, which `ask` returns. */
    startHelper(name, file) {
      const one = keep(name, forked(file));
      return {
        pid: one.pid,
        async ask(command, options) {
          one.child.send({ command, ...options });
          const [{ result, error }] = await orEnd(one, once(one.child, 'message'));
          if (error) throw new Error(`${name} failed: ${error}`);
          return result;
        },
        end: () => stopOne(one),
        /** Kills the process without a warning, like a power failure. */
        kill() {
          one.isEnding = true;
          one.child.kill('SIGKILL');
        },
      };
    },

    /** Rejects if a process ends unexpectedly, because callers of that process would wait for ever. */
    watch: () =>
      new Promise((_, reject) => {
        onDeath = reject;
      }),

    /** Returns the processes' last output, for error messages. */
    output: () => outputs.map(({ name, output }) => (output === '' ? '' : `--- ${name}\n${output}\n`)).join(''),

    /**
     * Stops all processes and resolves when they have ended. A second call waits for the stop that the first call
     * began.
     */
    stop() {
      stopping = stopping.then(async () => {
        for (const one of started.splice(0).reverse()) await stopOne(one);
      });
      return stopping;
    },
  };
}

function forked(file) {
  return fork(here(file), {
    env: ENVIRONMENT,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    detached: true,
    execArgv: FLAGS,
  });
}

const hasEnded = (child) => child.exitCode !== null || child.signalCode !== null;

async function stopOne(one) {
  const { child, pid, ended } = one;
  one.isEnding = true;
  if (hasEnded(child)) return;
  const family = descendantsOf(pid);
  child.kill('SIGTERM');
  const inTime = await Promise.race([ended, delay(STOP_LIMIT_MS, undefined, { ref: false })]);
  if (inTime !== undefined) return;
  for (const id of [pid, ...family]) {
    try {
      process.kill(id, 'SIGKILL');
    } catch {
      // The process has already ended.
    }
  }
}

async function fileOf(child, file) {
  for (const since = Date.now(); !hasEnded(child); await delay(50)) {
    const text = await readFile(file, 'utf8').catch(() => undefined);
    if (text !== undefined) return JSON.parse(text);
    if (Date.now() - since > START_LIMIT_MS) break;
  }
  throw new Error(`the service was not ready in ${START_LIMIT_MS / 1000} s`);
}
