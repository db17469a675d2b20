import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Book } from './book/book.js';
import type { Clock } from './clock.js';

export interface BridgeMetrics {
  readonly registry: Registry;
  countRequest(operation: string, outcome: string): void;
  countCall(operation: string, outcome: string, seconds: number): void;
  countNotice(outcome: string): void;
  countWebhook(outcome: string): void;
  countContradiction(about: string): void;
}

export function createMetrics(book: Book, clock: Clock): BridgeMetrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const counter = (name: string, help: string, labelNames: readonly string[]) =>
    new Counter({ name, help, labelNames, registers });
  const requests = counter('bridge_requests_total', 'Requests of the service, by what was answered', [
    'operation',
    'outcome',
  ]);
  const calls = counter('bridge_calls_total', 'Calls to the institution, by what they said', ['operation', 'outcome']);
  const notices = counter('bridge_notices_total', 'Notices that were sent, by what the service answered', ['outcome']);
  const webhooks = counter('bridge_webhooks_total', 'What webhooks of the institution told', ['outcome']);
  const contradictions = counter('bridge_contradictions_total', 'Results that contradict one that is written', [
    'about',
  ]);
  const seconds = new Histogram({
    name: 'bridge_call_seconds',
    help: 'How long calls to the institution take',
    labelNames: ['operation'],
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  });
  addBookGauges(book, clock, registers);
  return {
    registry,
    countRequest: (operation, outcome) => requests.inc({ operation, outcome }),
    countCall(operation, outcome, took) {
      calls.inc({ operation, outcome });
      seconds.observe({ operation }, took);
    },
    countNotice: (outcome) => notices.inc({ outcome }),
    countWebhook: (outcome) => webhooks.inc({ outcome }),
    countContradiction: (about) => contradictions.inc({ about }),
  };
}

/** Read from the book when somebody asks: the same from every process. */
function addBookGauges(book: Book, clock: Clock, registers: Registry[]): void {
  const age = (since: number | undefined) => (since === undefined ? 0 : Math.max(0, clock.now() - since) / 1000);
  const oldestOwed = new Gauge({ name: 'bridge_notices_oldest_seconds', help: 'Age of the oldest of them', registers });
  new Gauge({
    name: 'bridge_notices_owed',
    help: 'Notices that the service has not taken yet',
    registers,
    async collect() {
      const { owed, since } = await book.notices.countOwed();
      this.set(owed);
      oldestOwed.set(age(since));
    },
  });
  const oldestOpen = new Gauge({
    name: 'bridge_open_oldest_seconds',
    help: 'Age of the oldest of them',
    labelNames: ['about'],
    registers,
  });
  new Gauge({
    name: 'bridge_open',
    help: 'Numbers that have no result yet',
    labelNames: ['about'],
    registers,
    async collect() {
      for (const about of ['debits', 'refunds'] as const) {
        const { open, since } = await book[about].countOpen();
        this.set({ about }, open);
        oldestOpen.set({ about }, age(since));
      }
    },
  });
}
