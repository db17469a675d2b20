import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface ConnectionLimits {
  /** Connections beyond this number are spare: each is closed after one answer, and API requests on it are refused. */
  readonly connections: number;
  /** Connections beyond this number are dropped by Node before they are read. */
  readonly connectionsInAll: number;
  readonly keepAliveTimeout: number;
  /** How long an idle connection is kept while more than half of the connections are open. */
  readonly crowdedKeepAliveTimeout: number;
}

/**
 * Bounds the open connections of a server: each one costs memory, and those that send are all read before anything else is done.
 * Idle connections, such as browsers keep, make room for others. Spare connections exist so that health checks and refusals still
 * get an answer.
 */
export function createConnectionBound(limits: ConnectionLimits, onDrop: () => void) {
  const { connections, connectionsInAll, keepAliveTimeout, crowdedKeepAliveTimeout } = limits;
  const spare = new WeakSet<Socket>();
  let open = 0;

  function count(server: Server, by: 1 | -1): void {
    open += by;
    // Node reads it after each answer, and says it in the header Keep-Alive.
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
    /** Whether API requests on the connection are refused. Its answer, whatever it is, closes the connection. */
    isSpare({ socket }: IncomingMessage, response: ServerResponse): boolean {
      if (open <= connections || !spare.has(socket)) return false;
      response.shouldKeepAlive = false;
      return true;
    },
    counts: () => ({ open, most: connections }),
  };
}
