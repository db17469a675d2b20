import { CODES, formatTime } from '@perennial/wire';
import type { FastifyInstance } from 'fastify';
import type { Clock } from '../clock.js';
import type { Database } from '../db/database.js';
import type { ServiceMetrics } from './metrics.js';
import { Draining, sendAnswer } from './respond.js';

export interface OperationsDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly metrics: ServiceMetrics;
  readonly isDraining: () => boolean;
  readonly readsOnly: boolean;
}

/** What machines ask: is the process alive, may traffic be sent here, how is it doing. */
export function operationsRoutes(
  app: FastifyInstance,
  { database, clock, metrics, isDraining, readsOnly }: OperationsDeps,
): void {
  const status = (text: string, more = {}) => ({ ...CODES.SUCCESS, data: JSON.stringify({ status: text, ...more }) });

  app.get('/healthz', (_request, reply) => sendAnswer(reply, 200, status('alive'), formatTime(clock.now())));

  app.get('/readyz', async (_request, reply) => {
    if (isDraining()) throw new Draining();
    await database.query('select 1');
    return sendAnswer(reply, 200, status('ready', { engine: readsOnly ? 'off' : 'on' }), formatTime(clock.now()));
  });

  app.get('/metrics', async (_request, reply) =>
    reply.header('content-type', metrics.registry.contentType).send(await metrics.registry.metrics()),
  );
}
