import { OPERATIONS } from '@perennial/wire/bridge';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Agenda } from '../shared/agenda.js';
import type { Clock } from '../shared/clock.js';
import { signedServer } from '../shared/signed-server.js';
import type { Delays, Desk } from './desk.js';
import type { FaultBook } from './faults.js';

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
