import type { IncomingMessage } from 'node:http';
import { Rejection } from '@perennial/wire';
import type { FastifyRequest } from 'fastify';
import { BodyTooSlow } from '../answers/respond.js';
import { LARGE_BODY_BYTES, type LargeBodies } from '../limits/large-bodies.js';

type Done = (error: Error | null, body?: Buffer) => void;

/**
 * Reads a body, up to its route's limit, into one buffer, because a list of chunks took 250 MB for a megabyte that
 * arrived in chunks of one byte. The buffer of a large body grows with the bytes that have arrived, because a client
 * that only declares a large body must take no room from others. `ownerOf` says whose room it takes.
 */
export function createBodyReader(bodies: LargeBodies, ownerOf: (request: FastifyRequest) => string) {
  return (request: FastifyRequest, payload: IncomingMessage, done: Done): void => {
    const limit = request.routeOptions.bodyLimit ?? 0;
    const said = request.headers['content-length'];
    const expected = said === undefined ? limit : Number(said);
    let body: Buffer = Buffer.alloc(0);
    let length = 0;
    let owner: string | undefined;
    let window: NodeJS.Timeout | undefined;

    payload.on('end', finish);
    payload.on('error', finish);
    if (expected > limit) finish(new Rejection('BODY_TOO_LARGE'));
    // If the client has hung up, the request emits no more events.
    else if (payload.destroyed) finish(new Error('the client hung up'));
    else {
      body = Buffer.allocUnsafe(Math.min(expected, LARGE_BODY_BYTES));
      payload.on('data', onData).resume();
    }

    function onData(chunk: Buffer): void {
      const needed = length + chunk.length;
      try {
        if (needed > limit) throw new Rejection('BODY_TOO_LARGE');
        if (needed > body.length) growTo(needed);
        length += chunk.copy(body, length);
      } catch (error) {
        finish(error as Error);
      }
    }

    function growTo(needed: number): void {
      let size = LARGE_BODY_BYTES;
      while (size < needed) size *= 2;
      owner ??= ownerOf(request);
      body = bodies.grow(body, owner, Math.min(size, expected));
      window ??= demandSpeed();
    }

    function demandSpeed(): NodeJS.Timeout {
      let before = length;
      return setInterval(() => {
        if (length - before < bodies.bytesPerWindow) finish(new BodyTooSlow());
        before = length;
      }, bodies.windowMs);
    }

    function finish(error?: Error): void {
      clearInterval(window);
      payload.off('data', onData);
      payload.off('end', finish);
      payload.off('error', finish);
      if (error) bodies.release(body);
      done(error ?? null, body.subarray(0, length));
    }
  };
}
