import fastify, { type FastifyInstance } from 'fastify';
import type { Book } from './book/book.js';
import type { Clock } from './clock.js';
import type { BridgeLog } from './log.js';
import type { BridgeMetrics } from './metrics.js';

export interface MonitoringOptions {
  readonly book: Book;
  readonly clock: Clock;
  readonly metrics: BridgeMetrics;
  readonly log: BridgeLog;
  readonly isStopping: () => boolean;
}

/** Serves /health and /metrics on a separate port: a proxy in front of the bridge then needs no rule to hide them. */
export function createMonitoringServer({ book, clock, metrics, log, isStopping }: MonitoringOptions): FastifyInstance {
  const app = fastify({ logger: false, forceCloseConnections: true });
  app.get('/health', async (_request, reply) => {
    if (isStopping()) return reply.code(503).send({ status: 'stopping' });
    try {
      await book.pulse(clock.now());
      return { status: 'ok' };
    } catch (err) {
      log.error({ operation: 'health', err }, 'the book cannot be written');
      return reply.code(503).send({ status: 'the book cannot be written' });
    }
  });
  app.get('/metrics', async (_request, reply) => {
    try {
      return await reply.header('content-type', metrics.contentType).send(await metrics.readText());
    } catch (err) {
      log.error({ operation: 'metrics', err }, 'the book cannot be read');
      return reply.code(503).type('text/plain').send('the book cannot be read\n');
    }
  });
  return app;
}
