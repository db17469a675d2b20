import { once } from 'node:events';
import net, { type AddressInfo, type Socket } from 'node:net';

export type Network = Awaited<ReturnType<typeof network>>;

/**
 * Creates a proxy between a node and its database. While it is frozen, sockets stay open and nothing passes. Answers of
 * the database are delayed by `delayMs`.
 */
export async function network(serverUrl: string, { delayMs = 0 } = {}) {
  const target = new URL(serverUrl);
  const sockets = new Set<Socket>();
  const dead = new WeakSet<Socket>();
  let isFrozen = false;
  let last: string | undefined;
  let kept: (() => void)[] = [];
  let asked: Buffer[] = [];
  let fatal: { readonly text: string; readonly sent: () => void } | undefined;

  const pass = (from: Socket, to: Socket, isAsking: boolean) => {
    from.on('data', (chunk) => {
      if (dead.has(from)) return;
      if (isAsking && fatal !== undefined && chunk.includes(fatal.text)) {
        fatal.sent();
        fatal = undefined;
        from.destroy();
        return;
      }
      const send = () => void to.write(chunk);
      if (isFrozen) kept.push(send);
      else if (delayMs > 0 && !isAsking) setTimeout(send, delayMs);
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
    /** The database's URL through the proxy. */
    url: url.href,
    freeze() {
      isFrozen = true;
    },
    /** Freezes as soon as a node has sent this text and the database has received it. */
    freezeAfter(text: string) {
      last = text;
    },
    /** Returns whether a node has sent this text since the freeze. */
    hasHeard: (text: string) => asked.some((chunk) => chunk.includes(text)),
    thaw() {
      isFrozen = false;
      for (const send of kept.splice(0)) send();
      kept = [];
      asked = [];
    },
    /** Resolves when the node opens the next connection. */
    opened: () => once(server, 'connection'),
    /** Passes the bytes of connections that are opened from now on. Older connections stay open, and lose all bytes. */
    thawForNew() {
      for (const socket of sockets) dead.add(socket);
      isFrozen = false;
      kept = [];
    },
    /**
     * Breaks the first connection on which a node sends this text, before the text reaches the database. Resolves
     * afterwards.
     */
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
