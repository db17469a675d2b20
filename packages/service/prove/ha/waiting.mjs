import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** Polls until `probe` returns a value. An error counts as no value. */
export async function until(what, probe, { seconds, interrupted }) {
  let last;
  for (const since = Date.now(); Date.now() - since < seconds * 1000; await delay(200)) {
    interrupted.throwIfAborted();
    try {
      const found = await probe();
      if (found) return found;
    } catch (error) {
      last = error;
    }
  }
  throw new Error(`not within ${seconds} s: ${what}${last === undefined ? '' : ` (${last.message})`}`);
}

export const sleep = (seconds, interrupted) => delay(seconds * 1000, undefined, { signal: interrupted });

/**
 * The ports are below the ephemeral ports, so that no other process takes a killed server's port before its restart.
 */
const LOWEST_PORT = 20_000;
const PORTS = 12_000;

/** The ports that this process has returned. It returns none twice, because its programs listen later. */
const returned = new Set();

/** Returns distinct ports that are currently free. */
export async function freePorts(count) {
  const servers = [];
  while (servers.length < count) {
    const port = LOWEST_PORT + randomInt(PORTS);
    if (returned.has(port)) continue;
    const server = await listenOn(port);
    if (server) servers.push(server);
  }
  const ports = servers.map((server) => server.address().port);
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  for (const port of ports) returned.add(port);
  return ports;
}

/** Returns consecutive ports that are currently free. */
export async function freePortsInRow(count) {
  for (;;) {
    const [first] = await freePorts(1);
    const row = Array.from({ length: count }, (_, index) => first + index);
    const others = row.slice(1);
    if (others.some((port) => returned.has(port))) continue;
    const servers = await Promise.all(others.map(listenOn));
    await Promise.all(servers.map((server) => server && once(server.close(), 'close')));
    if (!servers.every(Boolean)) continue;
    for (const port of others) returned.add(port);
    return row;
  }
}

/** Returns a server on a port, or undefined if another program has the port. */
async function listenOn(port) {
  const server = net.createServer().listen(port, '127.0.0.1');
  return once(server, 'listening').then(
    () => server,
    () => undefined,
  );
}
