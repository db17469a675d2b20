// The load generator, in a separate process that ends with its parent. It signs the requests before the clock starts.
// Its client is minimal, because it shares the cores with the measured process. On the bare route the client takes 63
// to 70 microseconds of CPU per request. autocannon took 87 to 113 on the same machine, although it always sent the
// same request.
import { once } from 'node:events';
import net from 'node:net';
import { performance } from 'node:perf_hooks';
import { rowNamed } from './rows.mjs';
import { requestOf } from './signed.mjs';

const END_OF_HEADERS = '\r\n\r\n';
/** The time after the end of a run within which each response must arrive. A later response counts as a failure. */
const GRACE_MS = 10_000;

let prepared = [];
let expects;

const commands = {
  prepare({ row: name, channel, count }) {
    const row = rowNamed(name);
    const requests = Array.from({ length: count }, (_, n) => requestOf(row, channel, n));
    prepared = requests.map(asBytes);
    expects = requests[0]?.expects;
    return {};
  },
  run,
};

process.once('disconnect', () => process.exit());
process.on('message', async ({ command, ...options }) => {
  try {
    process.send({ result: await commands[command](options) });
  } catch (error) {
    process.send({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
});

function asBytes({ method = 'POST', path, headers, body }) {
  const lines = Object.entries({ Host: '127.0.0.1', ...headers, 'Content-Length': Buffer.byteLength(body) });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${head}\r\n${body}`);
}

/** Sends the prepared requests. Ends after `seconds`, or earlier if every request was sent and `again` is false. */
async function run({ port, connections, seconds, again }) {
  const sockets = await Promise.all(Array.from({ length: connections }, () => connect(port)));
  const latencies = [];
  let sent = 0;
  let failed = 0;
  let firstFailure;
  const cpuBefore = process.cpuUsage();
  const began = performance.now();
  const deadline = began + seconds * 1000;
  const next = () => {
    if (performance.now() >= deadline || (sent >= prepared.length && !again)) return undefined;
    sent += 1;
    return prepared[(sent - 1) % prepared.length];
  };
  const answered = (ms, answer) => {
    latencies.push(ms);
    if (isExpected(answer)) return;
    failed += 1;
    firstFailure ??= answer.slice(0, 600);
  };
  const late = setTimeout(
    () => {
      for (const socket of sockets) socket.destroy(new Error('an answer did not come'));
    },
    seconds * 1000 + GRACE_MS,
  );
  try {
    await Promise.all(sockets.map((socket) => drive(socket, next, answered)));
  } finally {
    clearTimeout(late);
    for (const socket of sockets) socket.destroy();
  }
  const elapsedMs = performance.now() - began;
  const { user, system } = process.cpuUsage(cpuBefore);
  latencies.sort((a, b) => a - b);
  return {
    requests: latencies.length,
    failed,
    firstFailure,
    rate: (latencies.length / elapsedMs) * 1000,
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    loadCpu: (user + system) / latencies.length,
  };
}

/** Returns true if the response has result code 0 or, for a page, the status line that the request expects. */
const isExpected = (answer) =>
  expects === undefined
    ? answer.startsWith('HTTP/1.1 2') && answer.includes(`${END_OF_HEADERS}{"code":"0"`)
    : answer.startsWith(expects);

async function connect(port) {
  const socket = net.connect({ host: '127.0.0.1', port, noDelay: true });
  await once(socket, 'connect');
  return socket;
}

/** Sends requests on one connection. Each request is sent after the response to the previous request. */
function drive(socket, next, answered) {
  return new Promise((resolve, reject) => {
    let since = 0;
    let text = '';
    const send = () => {
      const request = next();
      if (!request) {
        resolve();
        return;
      }
      since = performance.now();
      socket.write(request);
    };
    socket.on('data', (chunk) => {
      text += chunk.latin1Slice();
      const end = endOfAnswer(text);
      if (end === undefined || text.length < end) return;
      answered(performance.now() - since, text);
      text = '';
      send();
    });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('the server closed a connection')));
    send();
  });
}

function endOfAnswer(text) {
  const body = text.indexOf(END_OF_HEADERS);
  if (body < 0) return undefined;
  const length = /\r\ncontent-length: (\d+)/i.exec(text)?.[1];
  if (length === undefined) throw new Error(`an answer without Content-Length: ${text.slice(0, 300)}`);
  return body + END_OF_HEADERS.length + Number(length);
}

function quantile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}
