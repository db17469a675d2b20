import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';

/** Requests of one connection that may wait for the answers to earlier ones. */
const MAX_PIPELINED = 16;

/**
 * Closes a connection on which far more requests are sent without waiting for answers than any client needs. Node accepts
 * thousands in one read: for a client that reads nothing, all of their answers would be made and kept.
 */
export function limitPipelinedRequests(serve: RequestListener): RequestListener {
  const waiting = new WeakMap<Socket, number>();
  return (request, response) => {
    // No earlier answer is outstanding: nearly every request.
    if (response.socket) return serve(request, response);
    const { socket } = request;
    // Requests that were read together with the one that was too many.
    if (socket.destroyed) return undefined;
    const before = waiting.get(socket) ?? 0;
    if (before === MAX_PIPELINED) return void socket.destroy();
    waiting.set(socket, before + 1);
    response.once('close', () => waiting.set(socket, (waiting.get(socket) ?? 1) - 1));
    return serve(request, response);
  };
}
