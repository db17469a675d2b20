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

/** Nothing of the caller's settings: the bench has its own database, ports and key. */
const ENVIRONMENT = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', NODE_ENV: 'production' };

/** As `npm start` has it: for the service, and for what it is measured beside. */
const FLAGS = ['--max-semi-space-size=64'];

/** All pages are opened from one address. */
const OPEN = { REDEEM_OPENS_PER_MINUTE: '1000000' };

/**
 * The processes of one bench, stopped by `stop` in the reverse order of their start. Each leads a group of its own:
 * Ctrl-C reaches only the bench, which then asks every one of them once.
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
      // Also what a message to an ended process comes to.
      child.on('error', (error) => resolve(`${name}: ${error.message}`));
    });
    started.push(one);
    outputs.push(one);
    return one;
  }

  /** The answer, or an error when the process ends first. */
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
        // A line per request is formatted and written, but reading it would be work that no client causes.
        stdio: ['pipe', logLevel === 'warn' ? 'pipe' : 'ignore', 'pipe'],
        detached: true,
      });
      const one = keep('the service', child);
      // Written whole once the service listens, and names the port that was free.
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

    /** Any other program, for as long as the bench takes. Its process id. */
    startProgram: (name, program, args) =>
      keep(name, spawn(program, args, { env: ENVIRONMENT, stdio: ['ignore', 'pipe', 'pipe'], detached: true })).pid,

    startLoad() {
      return this.startHelper('the load', 'load.mjs').ask;
    },

    /** A process that answers each command with one message. */
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
        /** As a machine that loses its power would. */
        kill() {
          one.isEnding = true;
          one.child.kill('SIGKILL');
        },
      };
    },

    /** Fails when one of them ends that nobody has ended: whoever waits for what it does would wait in vain. */
    watch: () =>
      new Promise((_, reject) => {
        onDeath = reject;
      }),

    /** What they wrote last, for the message of a bench that failed. */
    output: () => outputs.map(({ name, output }) => (output === '' ? '' : `--- ${name}\n${output}\n`)).join(''),

    /** Resolves when all have ended, also for a second caller while the first one waits. */
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
      // It has ended meanwhile.
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
