import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { FastifyReply } from 'fastify';

/*
 * A socket that is closed while input is unread is reset, and a client that was still sending may lose the answer with
 * it. So the whole answer is sent first, and what still arrives is discarded until the client stops, or until the time is over.
 */

/** For an answer with `connection: close`: the answer and the connection end when the client has sent everything. */
export function answerThenLinger(reply: FastifyReply, text: string, lingerMs: number): FastifyReply {
  const request = reply.request.raw;
  if (request.complete) return reply.send(text);
  async function* answer() {
    yield text;
    await discard(request, lingerMs);
  }
  return reply.header('content-length', Buffer.byteLength(text)).send(Readable.from(answer(), { objectMode: false }));
}

/** The same without the framework. */
export function writeThenLinger(
  request: IncomingMessage,
  response: ServerResponse,
  text: string,
  lingerMs: number,
): void {
  response.write(text);
  void discard(request, lingerMs).then(() => response.end());
}

async function discard(request: IncomingMessage, lingerMs: number): Promise<void> {
  const signal = AbortSignal.timeout(lingerMs);
  await finished(request.resume(), { signal, cleanup: true }).catch(() => undefined);
}

/** The same for a socket that no longer speaks HTTP. */
export function endThenLinger(socket: Socket, text: string, lingerMs: number): void {
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(timer));
  socket.end(text);
}
