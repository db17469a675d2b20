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

/** Returns distinct ports that are currently free. */
export async function freePorts(count) {
  const servers = [];
  while (servers.length < count) {
    const server = net.createServer();
    server.listen(LOWEST_PORT + randomInt(PORTS), '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (isFree) servers.push(server);
  }
  const ports = servers.map((server) => server.address().port);
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
}
