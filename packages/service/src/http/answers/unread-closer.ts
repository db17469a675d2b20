import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** The number of checks per timeout. With 4, a connection is closed after 1 to 1.25 timeouts. */
const CHECKS = 4;

interface ReadProgress {
  /** The bytes that the network had taken at the last check, and the number of consecutive checks without progress. */
  bytes: number;
  unchanged: number;
}

/**
 * Closes the connections of clients that do not read their answers. One timer checks all connections, because a timeout
 * for each answer cost one percent of a request.
 */
export function createUnreadCloser(writeTimeout: number) {
  const connections = new Map<Socket, ReadProgress>();
  const cut = new WeakSet<Socket>();
  const timer = setInterval(() => {
    for (const [socket, taken] of connections) {
      checkProgress(socket, taken);
      if (taken.unchanged < CHECKS) continue;
      cut.add(socket);
      socket.resetAndDestroy();
    }
  }, writeTimeout / CHECKS);
  timer.unref();
  return {
    watch(server: Server): void {
      server.on('connection', (socket: Socket) => {
        connections.set(socket, { bytes: -1, unchanged: 0 });
        socket.once('close', () => connections.delete(socket));
      });
    },
    hasCut: (socket: Socket) => cut.has(socket),
    stop: () => clearInterval(timer),
  };
}

function checkProgress({ bytesWritten, writableLength }: Socket, taken: ReadProgress): void {
  const bytes = bytesWritten - writableLength;
  // A client that has nothing to read does not count as slow.
  taken.unchanged = bytes === taken.bytes && writableLength > 0 ? taken.unchanged + 1 : 0;
  taken.bytes = bytes;
}
