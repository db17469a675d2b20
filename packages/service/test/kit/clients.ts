import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { packageRoot } from '../support/processes.js';

export const EXAMPLES = path.join(packageRoot, '..', '..', 'examples');
const VECTORS = path.join(packageRoot, '..', 'wire', 'vectors');

/**
 * The environment of the example programs: none of our settings, no proxy to this machine, and no home folder with a
 * compiler cache.
 */
export const ENV = {
  PATH: process.env['PATH'] ?? '',
  HOME: os.tmpdir(),
  no_proxy: '127.0.0.1,localhost',
  PYTHONDONTWRITEBYTECODE: '1',
};

const PYTHON = process.env['PYTHON3'] ?? 'python3';
const PHP = process.env['PHP'] ?? 'php';
const GO = process.env['GO'] ?? 'go';
const JAVA = process.env['JAVA'] ?? 'java';
const JAVAC = process.env['JAVAC'] ?? 'javac';
/** The paths of the programs, by the names that users type. */
export const TOOLS: Readonly<Record<string, string>> = {
  python3: PYTHON,
  php: PHP,
  go: GO,
  java: JAVA,
  javac: JAVAC,
  node: process.execPath,
};

/** Java options for short-lived programs, which do not benefit from a second compiler and a parallel collector. */
export const SHORT = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'];

const run = promisify(execFile);

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Receiver {
  readonly url: string;
  /** The lines that the receiver prints, as they arrive. */
  readonly lines: AsyncIterator<string>;
  stop(): Promise<void>;
}

/** The example client of one language. Each function runs a command that a developer would type. */
export interface Client {
  readonly name: string;
  vectors(folder?: string): Promise<Outcome>;
  sell(channelFile: string): Promise<Outcome>;
  receive(channelFile: string): Promise<Receiver>;
}

/** Returns the example clients of all languages. Compiles the Go and Java clients into `folder`. */
export function clients(folder: string): Client[] {
  const go = path.join(folder, 'perennial-go');
  const classes = path.join(folder, 'classes');
  // Does not disable cgo: Debian's Go ships its library compiled for cgo. Without cgo, the library would be compiled
  // again.
  const builtGo = outcome(GO, ['build', '-o', go, './cmd/perennial'], {
    cwd: path.join(EXAMPLES, 'go'),
    env: { ...ENV, GOCACHE: path.join(folder, 'go-cache'), GOPROXY: 'off', GOFLAGS: '-mod=mod' },
  });
  const sources = ['Perennial', 'Json', 'Sell', 'Receive', 'Vectors'].map((name) => `examples/java/${name}.java`);
  const builtJava = outcome(JAVAC, [...SHORT.map((flag) => `-J${flag}`), '-d', classes, ...sources], {
    cwd: path.join(EXAMPLES, '..'),
    env: ENV,
  });
  return [
    interpreted('python', PYTHON, 'py'),
    interpreted('php', PHP, 'php', phpReceiver),
    compiled('go', builtGo, go, (name) => [name]),
    compiled('java', builtJava, JAVA, (name) => [...SHORT, '-cp', classes, name[0]?.toUpperCase() + name.slice(1)]),
    interpreted('sh', 'sh', 'sh', cgiReceiver),
  ];
}

function interpreted(name: string, command: string, suffix: string, receive?: Client['receive']): Client {
  const file = (program: string) => path.join(EXAMPLES, name, `${program}.${suffix}`);
  return {
    name,
    vectors: (folder = VECTORS) => outcome(command, [file('vectors'), folder]),
    sell: (channelFile) => outcome(command, [file('sell'), channelFile]),
    receive: receive ?? ((channelFile) => listening(command, [file('receive'), channelFile, '0'])),
  };
}

function compiled(name: string, built: Promise<Outcome>, command: string, args: (program: string) => string[]): Client {
  const ready = built.then(({ code, stderr }) => {
    if (code !== 0) throw new Error(`${name} was not compiled: ${stderr}`);
  });
  // The caller that awaits `ready` gets the error. Until then the rejection must not be unhandled.
  ready.catch(() => undefined);
  return {
    name,
    vectors: (folder = VECTORS) => ready.then(() => outcome(command, [...args('vectors'), folder])),
    sell: (channelFile) => ready.then(() => outcome(command, [...args('sell'), channelFile])),
    receive: (channelFile) => ready.then(() => listening(command, [...args('receive'), channelFile, '0'])),
  };
}

export function outcome(command: string, args: string[], options: { cwd?: string; env?: NodeJS.ProcessEnv } = {}) {
  return run(command, args, { env: ENV, ...options }).then(
    ({ stdout, stderr }): Outcome => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr, message }): Outcome => {
      if (typeof code !== 'number') throw new Error(message);
      return { code, stdout, stderr };
    },
  );
}

/** Starts a program that prints its address and then the received events. */
async function listening(command: string, args: string[], more: NodeJS.ProcessEnv = {}): Promise<Receiver> {
  const child = spawn(command, args, { env: { ...ENV, ...more }, stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const stop = async () => {
    if (child.exitCode === null && child.kill()) await once(child, 'exit');
  };
  const url = (await lines.next()).value?.replace(/^listening +/, '') ?? '';
  return { url, lines, stop };
}

/** Starts PHP's own server, which prints its address on standard error, among other lines. */
async function phpReceiver(channelFile: string): Promise<Receiver> {
  const child = spawn(PHP, ['-S', '127.0.0.1:0', path.join(EXAMPLES, 'php', 'receive.php')], {
    env: { ...ENV, PERENNIAL_CHANNEL: channelFile },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const stop = async () => {
    if (child.exitCode === null && child.kill()) await once(child, 'exit');
  };
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  for await (const line of createInterface({ input: child.stderr })) {
    const [, address] = /\((http:[^)]+)\) started/.exec(line) ?? [];
    if (address === undefined) continue;
    child.stderr.resume();
    return { url: `${address}/events`, lines, stop };
  }
  throw new Error('PHP did not start its server');
}

async function cgiReceiver(channelFile: string): Promise<Receiver> {
  const { url, said, stop } = await serveCgi(path.join(EXAMPLES, 'sh', 'receive.sh'), {
    env: { PERENNIAL_CHANNEL: channelFile },
  });
  // The script prints an event before the server answers, so its lines are complete here.
  return { url, stop, lines: { next: async () => ({ done: false, value: said.shift() ?? 'nothing was said' }) } };
}

/**
 * Starts a web server that passes each request to a CGI script. `said` has the lines that the script wrote to standard
 * error.
 */
export async function serveCgi(script: string, { cwd, env: more }: { cwd?: string; env?: NodeJS.ProcessEnv }) {
  const said: string[] = [];
  const server = http.createServer(async (request, response) => {
    const env: NodeJS.ProcessEnv = { ...ENV, ...more, REQUEST_METHOD: request.method };
    env['REQUEST_URI'] = request.url;
    for (const [name, value] of Object.entries(request.headers)) {
      env[`HTTP_${name.toUpperCase().replaceAll('-', '_')}`] = String(value);
    }
    const child = spawn('sh', [script], { cwd, env, stdio: 'pipe' });
    request.pipe(child.stdin);
    const [answer, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
    said.push(...errors.split('\n').filter((line) => line !== ''));
    const [, status, body] = /^Status: (\d+) .*?\r\n\r\n(.*)$/s.exec(answer) ?? [];
    response.writeHead(Number(status)).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/events`,
    said,
    async stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
