import { CODES, formatTime } from '@perennial/wire';
import type { FastifyInstance } from 'fastify';
import type { Clock } from '../clock.js';
import type { ClockWatch } from '../db/clock-watch.js';
import type { Database } from '../db/database.js';
import type { ServiceMetrics } from './metrics.js';
import { ClockWrong, Draining, sendAnswer } from './respond.js';

export interface OperationsDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly clockWatch: ClockWatch;
  readonly metrics: ServiceMetrics;
  readonly isDraining: () => boolean;
  readonly readsOnly: boolean;
}

/** Whoever asks counts no answer as an answer, and mostly after some seconds. */
const PING_MS = 1_500;

/** What machines ask: is the process alive, may traffic be sent here, how is it doing. */
export function operationsRoutes(
  app: FastifyInstance,
  { database, clock, clockWatch, metrics, isDraining, readsOnly }: OperationsDeps,
): void {
  const status = (text: string, more = {}) => ({ ...CODES.SUCCESS, data: JSON.stringify({ status: text, ...more }) });

  app.get('/healthz', (_request, reply) => sendAnswer(reply, 200, status('alive'), formatTime(clock.now())));

  app.get('/readyz', async (_request, reply) => {
    if (isDraining()) throw new Draining();
    if (clockWatch.isWrong()) throw new ClockWrong();
    await database.ping(PING_MS);
    return sendAnswer(reply, 200, status('ready', { engine: readsOnly ? 'off' : 'on' }), formatTime(clock.now()));
  });

  app.get('/metrics', async (_request, reply) =>
    reply.header('content-type', metrics.registry.contentType).send(await metrics.registry.metrics()),
  );
}
