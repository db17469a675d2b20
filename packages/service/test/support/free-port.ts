import { once } from 'node:events';
import net from 'node:net';

/** Below the ephemeral ports: 32768 and up on Linux, 49152 and up elsewhere. */
const FROM = 20_000;
/** The number of ports reserved for each concurrent test process. */
const PORTS = 1_000;
const from = FROM + (Number(process.env['VITEST_POOL_ID'] ?? 0) % 12) * PORTS;
/** A different start for each run, because several may run on one machine. */
let next = process.pid % PORTS;

/**
 * Returns a port for a program that is started later and restarted on it. No other test, and no process that takes any
 * free port, gets it meanwhile.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = from + (next++ % PORTS);
    const server = net.createServer().listen(port, '127.0.0.1');
    try {
      await once(server, 'listening');
    } catch {
      continue;
    }
    server.close();
    await once(server, 'close');
    return port;
  }
}
