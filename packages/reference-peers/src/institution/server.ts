import { OPERATIONS } from '@perennial/wire/bridge';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Clock } from '../shared/clock.js';
import { createFaultyServer } from '../shared/faulty-server.js';
import type { Timers } from '../shared/timers.js';
import type { InstitutionFaults } from './faults.js';
import type { Delays, InstitutionHandler } from './handler.js';

export interface InstitutionServerOptions {
  readonly key: Uint8Array;
  readonly clock: Clock;
  readonly handler: InstitutionHandler;
  readonly faults: InstitutionFaults;
  readonly timers: Timers;
  readonly delays: () => Delays;
  readonly log: Logger | undefined;
}

export function createInstitutionServer({
  handler,
  faults,
  delays,
  ...options
}: InstitutionServerOptions): FastifyInstance {
  return createFaultyServer({
    ...options,
    operations: OPERATIONS,
    prepare: (operation, fields, idempotencyKey) => handler.prepare(operation, fields, idempotencyKey),
    takeFault: (occasion) => faults.take(occasion),
    answerMs: () => delays().answerMs,
  });
}
