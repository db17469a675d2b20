import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface ConnectionLimits {
  /**
   * A connection is spare if it is opened while this number of connections is open. While more than this number are
   * open, API requests on spare connections are refused, and each answer on a spare connection closes it.
   */
  readonly connections: number;
  /** Node drops connections beyond this number before it reads from them. */
  readonly connectionsInAll: number;
  readonly keepAliveTimeout: number;
  /** Time for which an idle connection stays open while more than half of the allowed connections are open. */
  readonly crowdedKeepAliveTimeout: number;
}

/**
 * Limits the open connections of a server, because each costs memory, and Node reads from all of them before other
 * work. Idle connections, such as those of browsers, are closed early to make room. Spare connections ensure that
 * health checks and refusals are still answered.
 */
export function createConnectionBound(limits: ConnectionLimits, onDrop: () => void) {
  const { connections, connectionsInAll, keepAliveTimeout, crowdedKeepAliveTimeout } = limits;
  const spare = new WeakSet<Socket>();
  let open = 0;

  function count(server: Server, by: 1 | -1): void {
    open += by;
    // Node reads this value after each answer and sends it in the Keep-Alive header.
    server.keepAliveTimeout = open * 2 > connections ? crowdedKeepAliveTimeout : keepAliveTimeout;
  }

  return {
    watch(server: Server): void {
      server.maxConnections = connectionsInAll;
      server.on('drop', onDrop);
      server.on('connection', (socket: Socket) => {
        count(server, 1);
        socket.once('close', () => count(server, -1));
        if (open > connections) spare.add(socket);
      });
    },
    /** Returns true if API requests on the connection are refused. Then any answer closes the connection. */
    isSpare({ socket }: IncomingMessage, response: ServerResponse): boolean {
      if (open <= connections || !spare.has(socket)) return false;
      response.shouldKeepAlive = false;
      return true;
    },
    counts: () => ({ open, most: connections }),
  };
}
