import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Tracks connections on which no request has begun. When a server closes, Node neither counts them as idle nor checks
 * their timeouts. So one of them would block a stop forever.
 */
export function createSilentConnections() {
  const silent = new Set<Socket>();
  let isClosed = false;
  return {
    watch(server: Server): void {
      server.on('connection', (socket) => {
        if (isClosed) return void socket.destroy();
        silent.add(socket);
        socket.once('close', () => silent.delete(socket));
      });
      server.on('request', ({ socket }) => silent.delete(socket));
    },
    /** Closes the tracked connections, and every connection that is accepted later. */
    close(): void {
      isClosed = true;
      for (const socket of silent) socket.destroy();
    },
  };
}
