import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { FastifyReply } from 'fastify';

/*
 * Closing a socket with unread input resets it, and a client that is still sending may lose the answer. So the whole
 * answer is sent first, and further input is discarded until the client stops or the time limit is reached.
 */

/**
 * For an answer with `connection: close`. Ends answer and connection after the client has sent its whole request, or
 * after `halfCloseMs`.
 */
export function answerAndHalfClose(reply: FastifyReply, text: string, halfCloseMs: number): FastifyReply {
  const request = reply.request.raw;
  if (request.complete) return reply.send(text);
  async function* answer() {
    yield text;
    await discard(request, halfCloseMs);
  }
  return reply.header('content-length', Buffer.byteLength(text)).send(Readable.from(answer(), { objectMode: false }));
}

/** Like `answerAndHalfClose`, without the framework. */
export function writeAndHalfClose(
  request: IncomingMessage,
  response: ServerResponse,
  text: string,
  halfCloseMs: number,
): void {
  response.write(text);
  void discard(request, halfCloseMs).then(() => response.end());
}

async function discard(request: IncomingMessage, halfCloseMs: number): Promise<void> {
  const signal = AbortSignal.timeout(halfCloseMs);
  await finished(request.resume(), { signal, cleanup: true }).catch(() => undefined);
}

/** Like `answerAndHalfClose`, for a socket that no longer speaks HTTP. */
export function endAndHalfClose(socket: Socket, text: string, halfCloseMs: number): void {
  const timer = setTimeout(() => socket.destroy(), halfCloseMs);
  socket.once('close', () => clearTimeout(timer));
  socket.end(text);
}
