import { once } from 'node:events';
import net, { type AddressInfo, type Socket } from 'node:net';

export type Network = Awaited<ReturnType<typeof network>>;

/** What lies between a node and its database: as long as it is frozen, sockets stay open and nothing comes through. */
export async function network(serverUrl: string) {
  const target = new URL(serverUrl);
  const sockets = new Set<Socket>();
  let isFrozen = false;
  let last: string | undefined;
  let kept: (() => void)[] = [];
  let asked: Buffer[] = [];
  let fatal: { readonly text: string; readonly sent: () => void } | undefined;

  const pass = (from: Socket, to: Socket, isAsking: boolean) => {
    from.on('data', (chunk) => {
      if (isAsking && fatal !== undefined && chunk.includes(fatal.text)) {
        fatal.sent();
        fatal = undefined;
        from.destroy();
        return;
      }
      const send = () => void to.write(chunk);
      if (isFrozen) kept.push(send);
      else send();
      if (isFrozen && isAsking) asked.push(chunk);
      if (isAsking && last !== undefined && chunk.includes(last)) {
        last = undefined;
        isFrozen = true;
      }
    });
    from.on('close', () => to.destroy());
    from.on('error', () => to.destroy());
    sockets.add(from);
  };
  const server = net.createServer((socket) => {
    const onward = net.connect(Number(target.port), target.hostname);
    pass(socket, onward, true);
    pass(onward, socket, false);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(serverUrl);
  url.port = String((server.address() as AddressInfo).port);
  return {
    /** The database's address by way of it. */
    url: url.href,
    freeze() {
      isFrozen = true;
    },
    /** From the moment on that a node has sent this, and it has arrived, nothing comes back. */
    freezeAfter(text: string) {
      last = text;
    },
    /** Whether a node has sent this since. */
    hasHeard: (text: string) => asked.some((chunk) => chunk.includes(text)),
    thaw() {
      isFrozen = false;
      for (const send of kept.splice(0)) send();
      kept = [];
      asked = [];
    },
    /** Breaks the first connection over which a node sends this, before it arrives. Resolves when that has happened. */
    breakAt: (text: string) =>
      new Promise<void>((sent) => {
        fatal = { text, sent };
      }),
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
