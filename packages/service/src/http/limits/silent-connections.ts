import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Tracks connections without a request yet. Node does not count them as idle and checks no timeouts once a server
 * closes, so one of them would block a stop forever.
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
    /** Closes these connections, and any accepted later. */
    close(): void {
      isClosed = true;
      for (const socket of silent) socket.destroy();
    },
  };
}
