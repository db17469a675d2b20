import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { Counted } from './messages.js';

export interface NodeMetrics {
  /** A scrape of the whole node. `answers`: what its workers have counted, by the id of their process. */
  merge(answers: ReadonlyMap<number, Answer>): Promise<string>;
  /** A process has ended that nobody had asked to. */
  countEnd(): void;
  /** Nothing more will be heard of this process. */
  leave(id: number): void;
}

export interface Answer {
  readonly worker: number;
  /** Undefined if it did not answer. */
  readonly counted: Counted | undefined;
}

const REQUESTS = 'perennial_http_requests_total';
/** prom-client leaves it out of what it adds up; of a node it is the time of its first process. */
const START_TIME = 'process_start_time_seconds';

/**
 * What the workers have counted, added up. Of one that is gone or does not answer, counters stay as they were last heard of, so that
 * no sum ever falls; gauges are left out, since nobody knows them.
 */
export function createNodeMetrics(counts: () => { readonly wanted: number; readonly serving: number }): NodeMetrics {
  const own = new Registry();
  collectDefaultMetrics({ register: own });
  const registers = [own];
  new Gauge({
    name: 'perennial_workers',
    help: 'Workers that this node is to have, and those that serve',
    labelNames: ['state'],
    registers,
    collect() {
      for (const [state, count] of Object.entries(counts())) this.set({ state }, count);
    },
  });
  const ends = new Counter({
    name: 'perennial_worker_ends_total',
    help: 'Workers that have ended without being asked to',
    registers,
  });
  const requests = new Counter({
    name: 'perennial_worker_requests_total',
    help: 'Requests that each worker has answered since it started',
    labelNames: ['worker'],
    registers,
  });
  const heard = new Map<number, Counted>();
  let ofEnded: Promise<Counted> = Promise.resolve([]);

  return {
    async merge(answers) {
      const silent: Counted[] = [];
      requests.reset();
      for (const [id, { worker, counted }] of answers) {
        if (counted) heard.set(id, counted);
        else silent.push(countersOf(heard.get(id)));
        requests.inc({ worker }, sumOf(heard.get(id), REQUESTS));
      }
      const alive = [...answers.values()].flatMap(({ counted }) => (counted ? [counted] : []));
      return add([await own.getMetricsAsJSON(), ...alive, ...silent, await ofEnded]).metrics();
    },
    countEnd: () => ends.inc(),
    leave(id) {
      const last = countersOf(heard.get(id));
      heard.delete(id);
      if (last.length > 0) ofEnded = ofEnded.then((before) => add([before, last]).getMetricsAsJSON());
    },
  };
}

const countersOf = (counted: Counted = []): Counted =>
  counted.filter(({ type }) => String(type) === 'counter' || String(type) === 'histogram');

function sumOf(counted: Counted = [], name: string): number {
  const values = counted.find((metric) => metric.name === name)?.values ?? [];
  return values.reduce((sum, { value }) => sum + value, 0);
}

function add(all: readonly Counted[]): Registry {
  const metrics = all.map((counted) =>
    counted.map((metric) => (metric.name === START_TIME ? { ...metric, aggregator: 'min' as const } : metric)),
  );
  return AggregatorRegistry.aggregate(metrics);
}
