import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Book } from './book/book.js';
import type { Clock } from './clock.js';

export type BridgeMetrics = ReturnType<typeof createMetrics>;

export function createMetrics(book: Book, clock: Clock) {
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
  const readBook = addBookGauges(book, clock, registers);
  return {
    contentType: registry.contentType,
    /** Returns the metrics as text. Throws if the book cannot be read. */
    async readText() {
      await readBook();
      return registry.metrics();
    },
    countRequest: (operation: string, outcome: string) => requests.inc({ operation, outcome }),
    countCall(operation: string, outcome: string, took: number) {
      calls.inc({ operation, outcome });
      seconds.observe({ operation }, took);
    },
    countNotice: (outcome: string) => notices.inc({ outcome }),
    countWebhook: (outcome: string) => webhooks.inc({ outcome }),
    countContradiction: (about: string) => contradictions.inc({ about }),
  };
}

/**
 * Creates the gauges whose values come from the book, so that every process reports the same values. One query sets
 * several gauges.
 */
function addBookGauges(book: Book, clock: Clock, registers: Registry[]): () => Promise<void> {
  const gauge = (name: string, help: string, labelNames: readonly string[] = []) =>
    new Gauge({ name, help, labelNames, registers });
  const owed = gauge('bridge_notices_owed', 'Notices that the service has not taken yet');
  const oldestOwed = gauge('bridge_notices_oldest_seconds', 'Age of the oldest of them');
  const open = gauge('bridge_open', 'Numbers that have no result yet', ['about']);
  const longOpen = gauge('bridge_open_long', 'Those of them that have had none for over a day', ['about']);
  const oldestOpen = gauge('bridge_open_oldest_seconds', 'Age of the oldest of them', ['about']);

  return async () => {
    const now = clock.now();
    const age = (since: number | undefined) => (since === undefined ? 0 : Math.max(0, now - since) / 1000);
    const notices = await book.notices.countOwed();
    owed.set(notices.owed);
    oldestOwed.set(age(notices.since));
    for (const about of ['debits', 'refunds'] as const) {
      const numbers = await book[about].countOpen(now);
      open.set({ about }, numbers.open);
      longOpen.set({ about }, numbers.longOpen);
      oldestOpen.set({ about }, age(numbers.since));
    }
  };
}
