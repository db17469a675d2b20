// Callers that do not wait for one another, in a separate process. They send a fixed number of requests per second,
// whatever the outcome. They share connections opened in advance, as behind a proxy. Node accepts one new connection
// per event-loop turn, so a flood of new connections would wait in the kernel, where no node can refuse it. A
// connection carries one request at a time, and its caller hangs up after a timeout.
import { once } from 'node:events';
import net from 'node:net';
import { performance } from 'node:perf_hooks';
import { rowNamed } from '../rows.mjs';
import { requestOf } from '../signed.mjs';

const END_OF_HEADERS = '\r\n\r\n';
const PATIENCE_MS = 10_000;
const EVERY_MS = 5;

let prepared = [];

const commands = {
  /** Prepares one list of requests per stream. */
  prepare({ streams }) {
    prepared = streams.map(({ row, channel, count }) =>
      Array.from({ length: count }, (_, n) => asBytes(requestOf(rowNamed(row), channel, n))),
    );
    return {};
  },
  /** Sends all streams. Returns for each request when it was sent, how long it took, and its result code. */
  async run({ port, seconds, connections }) {
    const idle = await Promise.all(Array.from({ length: connections }, () => connected(port)));
    const began = performance.now();
    const results = await Promise.all(prepared.map((requests) => stream(port, idle, requests, seconds, began)));
    for (const socket of idle) socket.destroy();
    return results;
  },
};

process.once('disconnect', () => process.exit());
process.on('message', async ({ command, ...options }) => {
  try {
    process.send({ result: await commands[command](options) });
  } catch (error) {
    process.send({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
});

function asBytes({ path, headers, body }) {
  const lines = Object.entries({ Host: '127.0.0.1', ...headers, 'Content-Length': Buffer.byteLength(body) });
  return Buffer.from(
    `POST ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`,
  );
}

/**
 * Opens a connection and sends a request on it. The response shows that the node has accepted the connection; the
 * kernel alone would connect earlier.
 */
async function connected(port) {
  const socket = net.connect({ host: '127.0.0.1', port, noDelay: true });
  socket.write('GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
  await once(socket, 'data');
  return socket;
}

/** Sends the requests evenly over the seconds. If the timer is late, sends every request that is due. */
function stream(port, idle, requests, seconds, began) {
  const results = [];
  return new Promise((resolve) => {
    let sent = 0;
    const timer = setInterval(() => {
      const due = Math.min(
        requests.length,
        Math.ceil(((performance.now() - began) / 1000 / seconds) * requests.length),
      );
      for (; sent < due; sent += 1) {
        const at = performance.now() - began;
        ask(port, idle, requests[sent], (code) => {
          results.push({ at, ms: performance.now() - began - at, code });
          if (results.length === requests.length) resolve(results);
        });
      }
      if (sent === requests.length) clearInterval(timer);
    }, EVERY_MS);
  });
}

/** Returns an open connection, or undefined. Skips connections that the node has closed because they were idle. */
function openOne(idle) {
  for (let socket = idle.pop(); socket !== undefined; socket = idle.pop()) {
    if (socket.writable) return socket;
  }
}

function ask(port, idle, request, done) {
  const socket = openOne(idle) ?? net.connect({ host: '127.0.0.1', port, noDelay: true });
  let text = '';
  const over = (code) => {
    clearTimeout(timer);
    socket.removeAllListeners();
    socket.on('error', () => undefined);
    if (code === 'hung up' || code === 'closed') socket.destroy();
    else idle.push(socket);
    done(code);
  };
  const timer = setTimeout(over, PATIENCE_MS, 'hung up');
  socket.on('data', (chunk) => {
    text += chunk.latin1Slice();
    const body = text.indexOf(END_OF_HEADERS);
    const length = /\r\ncontent-length: (\d+)/i.exec(text)?.[1];
    if (body < 0 || text.length < body + END_OF_HEADERS.length + Number(length)) return;
    over(/"code":"(\w+)"/.exec(text)?.[1] ?? 'none');
  });
  socket.on('error', () => over('closed'));
  socket.on('close', () => over('closed'));
  socket.write(request);
}
