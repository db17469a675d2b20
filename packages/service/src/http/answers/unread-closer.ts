import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** So often within the time that a caller has: it is cut off after that time, and at most a quarter later. */
const CHECKS = 4;

interface ReadProgress {
  /** Bytes that the connection had taken at the last look, and for how many looks it has taken no more. */
  bytes: number;
  unchanged: number;
}

/**
 * Ends the connections of callers who take in nothing of their answers, long or short. One timer looks after all
 * connections, and requests cost nothing: a timeout for each answer was measured at a hundredth of what a request costs.
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
    /** Whether this connection was ended for that. */
    hasCut: (socket: Socket) => cut.has(socket),
    stop: () => clearInterval(timer),
  };
}

function checkProgress({ bytesWritten, writableLength }: Socket, taken: ReadProgress): void {
  const bytes = bytesWritten - writableLength;
  // Nothing to take is not the caller's doing.
  taken.unchanged = bytes === taken.bytes && writableLength > 0 ? taken.unchanged + 1 : 0;
  taken.bytes = bytes;
}
