import { CODES } from '@perennial/wire';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { createBusinessMetrics } from '../engine/metrics/business-metrics.js';
import type { Database } from '../platform/db/database.js';
import type { ConnectionShares } from '../platform/db/sharing/connection-shares.js';
import { VERSION } from '../platform/version.js';
import { DROPPED_BECAUSE, type DroppedBecause } from './request-log.js';

const { INTERNAL_ERROR } = CODES;

/** No label holds a channel, an order, or anything else that has many values or identifies a person. */
export function createServiceMetrics(database: Database, shares: ConnectionShares, hasEngine: boolean) {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const counter = <Label extends string>(name: string, help: string, labelNames: Label[]) =>
    new Counter({ name, help, labelNames, registers: [registry] });
  const requests = counter(
    'perennial_http_requests_total',
    'Requests by endpoint, HTTP status and result code; 499 without a code: the caller hung up',
    ['endpoint', 'status', 'code'],
  );
  const seconds = new Histogram({
    name: 'perennial_http_request_seconds',
    help: 'Time from the first header to the last byte of the answer',
    labelNames: ['endpoint'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  // Their labels are put together once: there are as few of each as there are series.
  const findCounter = rememberBy(
    (endpoint: string, status: number, code: string) => `${endpoint} ${status} ${code}`,
    (endpoint, status, code) => requests.labels({ endpoint, status: String(status), code }),
  );
  const findTimer = rememberBy(
    (endpoint: string) => endpoint,
    (endpoint) => seconds.labels({ endpoint }),
  );
  const admissionBatch = new Histogram({
    name: 'perennial_admission_batch_size',
    help: 'Requests that shared one admission statement',
    buckets: [1, 2, 4, 8, 16, 32, 64],
    registers: [registry],
  });
  /** A gauge of several numbers, read whenever the metrics are. */
  const watchStates = (name: string, help: string, counts: () => Readonly<Record<string, number>>) =>
    new Gauge({
      name,
      help,
      labelNames: ['state'],
      registers: [registry],
      collect() {
        for (const [state, count] of Object.entries(counts())) this.set({ state }, count);
      },
    });
  watchStates(
    'perennial_database_connections',
    'Connections of this node to the database, and requests that wait for one',
    () => ({ ...database.connections }),
  );
  new Gauge({
    name: 'perennial_database_writable',
    help: 'Whether the database can write, as far as this node knows: 1, or 0 after a write failed for lack of room',
    registers: [registry],
    aggregator: 'min',
    collect() {
      this.set(database.writeFailure() ? 0 : 1);
    },
  });
  new Gauge({
    name: 'perennial_engine_on',
    help: 'Whether this node does what no request asks for: 1, or 0 with ENGINE=off',
    registers: [registry],
    aggregator: 'max',
  }).set(hasEngine ? 1 : 0);
  const cut = counter('perennial_http_answers_cut_total', 'Answers that did not go out whole, by why', ['why']);
  for (const why of ['hung-up', 'unread', 'slow', 'fault', 'stopping']) cut.inc({ why }, 0);
  const dropped = counter(
    'perennial_connections_dropped_total',
    'Connections that were closed unread, because twice the usual number was open',
    [],
  );
  const unlogged = counter(
    'perennial_request_log_dropped_total',
    'Requests that were answered and not written to the log of requests, by why',
    ['why'],
  );
  for (const why of DROPPED_BECAUSE) unlogged.inc({ why }, 0);
  new Gauge({
    name: 'perennial_share_waiting',
    help: 'Requests that wait because their channel uses its share of the connections, or all channels theirs',
    registers: [registry],
    collect() {
      this.set(shares.waiting);
    },
  });
  return {
    registry,
    business: createBusinessMetrics(registry, VERSION, hasEngine),
    watchLongAnswers(counts: () => { readonly open: number; readonly waiting: number }): void {
      watchStates('perennial_long_answers', 'Long answers under way, and requests that wait to begin one', counts);
    },
    watchLoad(counts: () => { readonly inside: number; readonly most: number }): void {
      const help = 'Requests that this node is working on, and with how many the next one is refused';
      watchStates('perennial_requests_inside', help, counts);
    },
    watchConnections(counts: () => { readonly open: number; readonly most: number }): void {
      const help = 'Connections of callers that are open, and beyond how many a new one has its API requests refused';
      watchStates('perennial_connections', help, counts);
    },
    countDropped: () => dropped.inc(),
    countUnlogged: (why: DroppedBecause, count: number) => unlogged.inc({ why }, count),
    observeCut: (why: string) => cut.inc({ why }),
    observeBatch: (size: number) => admissionBatch.observe(size),
    /** Without `elapsedMs`: refused before it was looked at, which says nothing about how long requests take. */
    observeRequest(endpoint: string, status: number, code: string, elapsedMs?: number): void {
      findCounter(endpoint, status, code).inc();
      if (elapsedMs !== undefined) findTimer(endpoint).observe(elapsedMs / 1000);
    },
    /** From 0 on, so that the first one is an increase. */
    expectFaults(endpoint: string): void {
      requests.inc({ endpoint, status: String(INTERNAL_ERROR.http), code: INTERNAL_ERROR.code }, 0);
    },
  };
}

function rememberBy<Key extends readonly unknown[], Made>(
  nameOf: (...key: Key) => string,
  make: (...key: Key) => Made,
): (...key: Key) => Made {
  const known = new Map<string, Made>();
  return (...key) => {
    const name = nameOf(...key);
    const made = known.get(name) ?? make(...key);
    known.set(name, made);
    return made;
  };
}

export type ServiceMetrics = ReturnType<typeof createServiceMetrics>;
