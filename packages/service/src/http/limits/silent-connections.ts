import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Connections on which no request has come yet. Node does not count such a connection as idle, and checks no time-outs once a server closes: one of them would hold up a stop for ever.
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
    /** Closes them, and those that are accepted later. */
    close(): void {
      isClosed = true;
      for (const socket of silent) socket.destroy();
    },
  };
}
