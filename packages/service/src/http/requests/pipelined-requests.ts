import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';

const MAX_PIPELINED = 16;

/**
 * Closes a connection that pipelines far more requests than any client needs. Node accepts thousands of requests in one
 * read. Without this limit, the service would produce all answers and keep them in memory for a client that reads no
 * answer.
 */
export function limitPipelinedRequests(serve: RequestListener): RequestListener {
  const waiting = new WeakMap<Socket, number>();
  return (request, response) => {
    // No earlier answer is pending on the connection, as for nearly every request.
    if (response.socket) return serve(request, response);
    const { socket } = request;
    // The connection was closed at the limit. Requests that were read together with the last one are dropped.
    if (socket.destroyed) return undefined;
    const before = waiting.get(socket) ?? 0;
    if (before === MAX_PIPELINED) return void socket.destroy();
    waiting.set(socket, before + 1);
    response.once('close', () => waiting.set(socket, (waiting.get(socket) ?? 1) - 1));
    return serve(request, response);
  };
}
