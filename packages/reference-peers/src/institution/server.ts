import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { OPERATIONS } from '../../gateways/bridge/protocol.js';
import type { Clock } from '../../platform/clock.js';
import type { Agenda } from './agenda.js';
import type { Delays, Desk } from './desk.js';
import type { FaultBook } from './faults.js';
import { signedServer } from './signed-server.js';

export interface ServerOptions {
  readonly key: Uint8Array;
  readonly clock: Clock;
  readonly desk: Desk;
  readonly faults: FaultBook;
  readonly agenda: Agenda;
  readonly delays: () => Delays;
  readonly log: Logger | undefined;
}

/** The operations of the bridge, at the institution's desk. */
export function institutionServer({ desk, faults, delays, ...options }: ServerOptions): FastifyInstance {
  return signedServer({
    ...options,
    operations: OPERATIONS,
    prepare: (operation, fields, idempotencyKey) => desk.prepare(operation, fields, idempotencyKey),
    takeFault: (occasion) => faults.take(occasion),
    answerMs: () => delays().answerMs,
  });
}
