import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';

/** As many as wait for the answers to earlier requests of their connection. */
const MAX_PIPELINED = 16;

/**
 * Ends a connection on which far more requests are sent in one go than anybody sends who waits for answers. Node takes them
 * all in, thousands in one read: a caller who reads nothing would have all of them made and kept.
 */
export function limitPipelinedRequests(serve: RequestListener): RequestListener {
  const waiting = new WeakMap<Socket, number>();
  return (request, response) => {
    // Its turn already: nearly every request.
    if (response.socket) return serve(request, response);
    const { socket } = request;
    // The rest of what was read with those that were too many.
    if (socket.destroyed) return undefined;
    const before = waiting.get(socket) ?? 0;
    if (before === MAX_PIPELINED) return void socket.destroy();
    waiting.set(socket, before + 1);
    response.once('close', () => waiting.set(socket, (waiting.get(socket) ?? 1) - 1));
    return serve(request, response);
  };
}
