import { CODES } from '@perennial/wire';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { createBusinessMetrics } from '../engine/metrics/business-metrics.js';
import type { Database } from '../platform/db/database.js';
import type { ConnectionShares } from '../platform/db/sharing/connection-shares.js';
import { countDroppedLines } from '../platform/log/log.js';
import { VERSION } from '../platform/version.js';
import { DROPPED_BECAUSE, type DroppedBecause } from './request-log.js';

const { INTERNAL_ERROR } = CODES;

/** Creates the metrics. No label has many values or identifies a person, so no label contains a channel or an order. */
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
  // Caches the counters by their labels, because building labels is slow and there are few combinations.
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
  /** Adds a gauge with one value per state, read at each scrape. */
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
    help: '1 if the database can write, 0 after a write of this node failed for lack of space or by an I/O error',
    registers: [registry],
    aggregator: 'min',
    collect() {
      this.set(database.writeFailure() ? 0 : 1);
    },
  });
  new Gauge({
    name: 'perennial_engine_on',
    help: '1 if this node runs the engine, 0 with ENGINE=off',
    registers: [registry],
    aggregator: 'max',
  }).set(hasEngine ? 1 : 0);
  const cut = counter('perennial_http_answers_cut_total', 'Answers that were not fully sent, by reason', ['why']);
  for (const why of ['hung-up', 'unread', 'slow', 'fault', 'stopping']) cut.inc({ why }, 0);
  const dropped = counter(
    'perennial_connections_dropped_total',
    'Connections closed unread, because twice the usual number was open',
    [],
  );
  const unlogged = counter(
    'perennial_request_log_dropped_total',
    'Requests that were answered but not written to the request log, by reason',
    ['why'],
  );
  for (const why of DROPPED_BECAUSE) unlogged.inc({ why }, 0);
  new Counter({
    name: 'perennial_log_lines_dropped_total',
    help: 'Log lines that could not be written to the standard output, such as on a full disk',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(countDroppedLines());
    },
  });
  new Gauge({
    name: 'perennial_share_waiting',
    help: 'Requests that wait because their channel, or all channels together, use their share of the connections',
    registers: [registry],
    collect() {
      this.set(shares.waiting);
    },
  });
  return {
    registry,
    business: createBusinessMetrics(registry, VERSION, hasEngine),
    watchLongAnswers(counts: () => { readonly open: number; readonly waiting: number }): void {
      watchStates('perennial_long_answers', 'Long answers in progress, and requests that wait to begin one', counts);
    },
    watchLoad(counts: () => { readonly inside: number; readonly most: number }): void {
      const help = 'Requests in progress on this node, and the number at which the next one is refused';
      watchStates('perennial_requests_inside', help, counts);
    },
    watchConnections(counts: () => { readonly open: number; readonly most: number }): void {
      const help = 'Open connections of callers, and the number beyond which API requests on new ones are refused';
      watchStates('perennial_connections', help, counts);
    },
    countDropped: () => dropped.inc(),
    countUnlogged: (why: DroppedBecause, count: number) => unlogged.inc({ why }, count),
    observeCut: (why: string) => cut.inc({ why }),
    observeBatch: (size: number) => admissionBatch.observe(size),
    /** `elapsedMs` is undefined for a request that was refused unread: its time would distort the histogram. */
    observeRequest(endpoint: string, status: number, code: string, elapsedMs?: number): void {
      findCounter(endpoint, status, code).inc();
      if (elapsedMs !== undefined) findTimer(endpoint).observe(elapsedMs / 1000);
    },
    /** Creates the series at 0, so that the first fault shows as an increase. */
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
