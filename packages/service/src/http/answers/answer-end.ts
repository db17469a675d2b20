import type { Socket } from 'node:net';
import type { FastifyReply } from 'fastify';

/** Listeners of answers that wait for earlier answers on the same connection. */
const waiting = new WeakMap<Socket, Set<() => void>>();

/**
 * Calls `act` one time: when the answer was sent, or when its connection closed. Needed because Node emits no event if
 * the connection closes while the answer waits behind answers to earlier requests.
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

/** Returns the set of listeners of a connection. Node gets one listener, however many requests were pipelined. */
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
