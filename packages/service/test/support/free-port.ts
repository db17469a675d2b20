import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';

/** Below those that systems hand out to whoever asks for any: 32768 and up on Linux, 49152 and up elsewhere. */
const FROM = 20_000;
const TO = 32_000;

/**
 * A port for a program that is started later, and again on the same one. Nobody who takes whatever port is free, for
 * listening or for calling, gets it meanwhile.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FROM, TO);
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
