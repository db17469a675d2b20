import { once } from 'node:events';
import net from 'node:net';

/** The first port, below the ephemeral ports (32768 and up on Linux, 49152 and up elsewhere). */
const FROM = 20_000;
/** The number of ports reserved for each concurrent test process. */
const PORTS = 1_000;
const from = FROM + (Number(process.env['VITEST_POOL_ID'] ?? 0) % 12) * PORTS;
/**
 * The offset of the next port to try. Each run starts at a different offset, because several runs may share one
 * machine.
 */
let next = process.pid % PORTS;

/**
 * Returns a port for a program that is started later and may be restarted on the same port. If at most 12 test
 * processes run, no other test of this run gets the port. A process that takes any free port does not get it either.
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
