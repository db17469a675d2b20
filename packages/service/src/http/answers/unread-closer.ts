import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Checks within the timeout: a connection is closed after the timeout, at most a quarter later. */
const CHECKS = 4;

interface ReadProgress {
  /** Bytes that the client had read at the last check, and for how many checks that has not changed. */
  bytes: number;
  unchanged: number;
}

/**
 * Closes the connections of clients that do not read their answers. One timer checks all connections, so requests cost
 * nothing: a timeout for each answer was measured at a hundredth of what a request costs.
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
    /** Whether this connection was closed for that reason. */
    hasCut: (socket: Socket) => cut.has(socket),
    stop: () => clearInterval(timer),
  };
}

function checkProgress({ bytesWritten, writableLength }: Socket, taken: ReadProgress): void {
  const bytes = bytesWritten - writableLength;
  // If there is nothing to read, the client cannot read it.
  taken.unchanged = bytes === taken.bytes && writableLength > 0 ? taken.unchanged + 1 : 0;
  taken.bytes = bytes;
}
