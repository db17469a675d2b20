import type { IncomingMessage } from 'node:http';
import { Rejection } from '@perennial/wire';
import type { FastifyRequest } from 'fastify';
import { LARGE_BODY_BYTES, type LargeBodies } from '../limits/large-bodies.js';

type Done = (error: Error | null, body?: Buffer) => void;

/**
 * Reads a body, up to its route's limit, into one buffer, because a list of chunks took 250 MB for a megabyte that
 * arrived in chunks of one byte. Reads a large body only when there is room. The buffer of a large body has the size of
 * the Content-Length. If there is no Content-Length, a body that turns out to be large gets a buffer of the route's
 * limit.
 */
export function createBodyReader(bodies: LargeBodies) {
  return (request: FastifyRequest, payload: IncomingMessage, done: Done): void => {
    const limit = request.routeOptions.bodyLimit ?? 0;
    const said = request.headers['content-length'];
    const expected = said === undefined ? Math.min(limit, LARGE_BODY_BYTES) : Number(said);
    let body: Buffer = Buffer.alloc(0);
    let length = 0;
    let isOver = false;

    payload.on('end', finish);
    payload.on('error', finish);
    if (expected > limit) finish(new Rejection('BODY_TOO_LARGE'));
    else if (expected > LARGE_BODY_BYTES) moveToLarger(expected, read);
    else {
      body = Buffer.allocUnsafe(expected);
      read();
    }

    function read(): void {
      // If the client has hung up, the request emits no more events.
      if (payload.destroyed) finish(new Error('the client hung up'));
      else payload.on('data', onData).resume();
    }

    function onData(chunk: Buffer): void {
      if (length + chunk.length > limit) finish(new Rejection('BODY_TOO_LARGE'));
      else if (length + chunk.length <= body.length) length += chunk.copy(body, length);
      else {
        payload.pause();
        moveToLarger(limit, () => {
          length += chunk.copy(body, length);
          payload.resume();
        });
      }
    }

    /** Moves the bytes read so far into a new buffer of this size. */
    function moveToLarger(bytes: number, goOn: () => void): void {
      bodies.allocate(request.ip, bytes).then((larger) => {
        if (isOver) {
          bodies.release(larger);
          return;
        }
        body.copy(larger, 0, 0, length);
        body = larger;
        goOn();
      }, finish);
    }

    function finish(error?: Error): void {
      isOver = true;
      payload.off('data', onData);
      payload.off('end', finish);
      payload.off('error', finish);
      if (error) bodies.release(body);
      done(error ?? null, body.subarray(0, length));
    }
  };
}
