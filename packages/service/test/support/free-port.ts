import { once } from 'node:events';
import net from 'node:net';

/** Below those that systems hand out to whoever asks for any: 32768 and up on Linux, 49152 and up elsewhere. */
const FROM = 20_000;
/** Each of the processes that run tests at the same time has so many for itself. */
const PORTS = 1_000;
const from = FROM + (Number(process.env['VITEST_POOL_ID'] ?? 0) % 12) * PORTS;
/** Of several runs on one machine, hardly two begin at the same place. */
let next = process.pid % PORTS;

/**
 * A port for a program that is started later, and again on the same one. Nobody who takes whatever port is free, for
 * listening or for calling, gets it meanwhile, and no other test does.
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
