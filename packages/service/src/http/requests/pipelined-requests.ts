import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';

const MAX_PIPELINED = 16;

/**
 * Closes a connection that pipelines far more requests than any client needs. Node accepts thousands in one read, and
 * would make and keep all answers for a client that reads none.
 */
export function limitPipelinedRequests(serve: RequestListener): RequestListener {
  const waiting = new WeakMap<Socket, number>();
  return (request, response) => {
    // Nearly every request: no earlier answer is pending.
    if (response.socket) return serve(request, response);
    const { socket } = request;
    // Drops requests that were read together with the one above the limit.
    if (socket.destroyed) return undefined;
    const before = waiting.get(socket) ?? 0;
    if (before === MAX_PIPELINED) return void socket.destroy();
    waiting.set(socket, before + 1);
    response.once('close', () => waiting.set(socket, (waiting.get(socket) ?? 1) - 1));
    return serve(request, response);
  };
}
