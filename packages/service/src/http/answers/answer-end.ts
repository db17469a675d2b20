import type { Socket } from 'node:net';
import type { FastifyReply } from 'fastify';

/** Listeners of answers that wait behind others on their connection. */
const waiting = new WeakMap<Socket, Set<() => void>>();

/**
 * Calls `act` once, when the answer was sent or its connection closed. Node emits no event for an answer whose
 * connection closes while it waits behind the answers to earlier requests.
 */
export function onAnswerEnd({ raw, request }: FastifyReply, act: () => void): void {
  if (raw.socket) return void raw.once('close', act);
  const { socket } = request.raw;
  const ends = endListeners(socket);
  const once = () => {
    if (ends.delete(once)) act();
  };
  ends.add(once);
  raw.once('close', once);
  if (socket.destroyed) once();
}

/** Registers one listener per connection, however many requests were pipelined on it. */
function endListeners(socket: Socket): Set<() => void> {
  const known = waiting.get(socket);
  if (known) return known;
  const ends = new Set<() => void>();
  waiting.set(socket, ends);
  socket.once('close', () => {
    for (const end of ends) end();
  });
  return ends;
}

/** Returns true if the client can no longer receive the answer. */
export function isAnswerEnded({ raw, request }: FastifyReply): boolean {
  return raw.destroyed || request.raw.socket.destroyed;
}
