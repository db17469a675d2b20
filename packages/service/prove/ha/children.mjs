import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { endEverything } from './ending.mjs';
import { identify } from './signals.mjs';

export const here = (file) => fileURLToPath(new URL(file, import.meta.url));

/** Ignores the caller's settings. */
export const ENVIRONMENT = { PATH: process.env['PATH'] ?? '', LC_ALL: 'C.UTF-8', NODE_ENV: 'production' };

/** The number of lines of its log that the error of a process that ended too early has. */
const LOG_LINES = 5;

/**
 * The processes of a stand. Each leads its own process group, so that Ctrl-C reaches only the script, which then ends
 * them in order. Each writes a log file in `logDir`.
 */
export function createChildren({ folder, logDir, dataDirs }) {
  const running = new Set();
  const disks = [];
  const keeper = fork(here('keeper.mjs'), {
    env: ENVIRONMENT,
    execArgv: [],
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  keeper.on('error', () => undefined);
  const kept = () => ({
    processes: [...running].map(({ identity, role }) => ({ ...identity, role })),
    dataDirs,
    disks,
    folder,
  });
  const tell = () => keeper.connected && keeper.send(kept());

  /** Starts a process. `role` decides how it is ended; `channel` opens an IPC channel. */
  async function start({ name, role, command, args, as = {}, env = {}, cwd = folder, channel = false }) {
    const log = await open(path.join(logDir, `${name}.log`), 'a');
    const child = spawn(command, args, {
      ...as,
      cwd,
      env: { ...ENVIRONMENT, HOME: folder, ...env },
      stdio: ['ignore', log.fd, log.fd, ...(channel ? ['ipc'] : [])],
      detached: true,
    });
    await log.close();
    const ended = new Promise((resolve) => {
      child.once('exit', (code, signal) => resolve(`${name} ended with ${signal ?? code}`));
      child.on('error', (error) => resolve(`${name}: ${error.message}`));
    });
    const identity = child.pid === undefined ? undefined : identify(child.pid);
    if (identity === undefined) throw new Error(await ended);
    const one = {
      name,
      role,
      child,
      identity,
      ended,
      /** Returns an error with the end of the process's log, for a process that ended too early. */
      endedTooEarly: async () => new Error(`${await ended}:\n${await endOfLog(name)}`),
      hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    };
    running.add(one);
    tell();
    void ended.then(() => {
      running.delete(one);
      tell();
    });
    return one;
  }

  async function endOfLog(name) {
    const log = await readFile(path.join(logDir, `${name}.log`), 'utf8');
    return log.trimEnd().split('\n').slice(-LOG_LINES).join('\n');
  }

  return {
    start,
    /** Starts a Node program that receives its options as a message and answers with one message. */
    async startNode({ name, file, options = {}, env = {} }) {
      const one = await start({
        name,
        role: 'node',
        command: process.execPath,
        args: [here(file)],
        env,
        channel: true,
      });
      one.child.send(options);
      const failed = one.endedTooEarly().then((error) => Promise.reject(error));
      failed.catch(() => undefined);
      const [answer] = await Promise.race([once(one.child, 'message'), failed]);
      return { ...one, answer };
    },
    /** Registers a file system to be unmounted at the end. */
    keepDisk(disk) {
      disks.push(disk);
      tell();
    },
    /** `release`: see endEverything. */
    async end(release) {
      await endEverything(kept(), release);
      if (keeper.connected) keeper.send({ done: true });
      if (keeper.exitCode === null) await once(keeper, 'exit');
    },
  };
}
