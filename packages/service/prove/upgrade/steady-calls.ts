import { randomInt } from 'node:crypto';
import type { Database } from '../../src/platform/db/database.js';
import { type ChannelCredentials, channelClient, type Reply } from '../../test/support/channel-client.js';
import { collectRequest } from '../../test/support/demo.js';
import { until } from '../../test/support/processes.js';

const IN_PROGRESS = '409002';

/** The counts of one phase of the upgrade. */
interface Phase {
  readonly name: string;
  requests: number;
  failed: number;
  askedToResend: number;
  slowestMs: number;
}

/**
 * Runs callers through the whole upgrade. Each creates an order, resends the request, queries the order and lists its
 * user's orders, each time at a random node. An answer with 409002 asks for a retry and is counted separately.
 */
export function steadyCalls(credentials: ChannelCredentials, urls: readonly string[], callers: number) {
  const clients = new Map(urls.map((url) => [url, channelClient(url, credentials)]));
  const phases: Phase[] = [];
  const failures: string[] = [];
  const orders = new Set<string>();
  let answered = 0;
  let isOver = false;
  const enter = (name: string) => {
    const phase = { name, requests: 0, failed: 0, askedToResend: 0, slowestMs: 0 };
    phases.push(phase);
    return phase;
  };
  let phase = enter('older version');

  function anyClient() {
    const url = urls[randomInt(urls.length)] ?? '';
    const client = clients.get(url) ?? channelClient(url, credentials);
    clients.set(url, client);
    return client;
  }

  async function call(name: string, body: unknown, idempotencyKey?: string): Promise<Reply | undefined> {
    const begun = performance.now();
    const during = phase;
    try {
      const reply = await anyClient().call(name, body, idempotencyKey === undefined ? {} : { idempotencyKey });
      if (reply.code === IN_PROGRESS) during.askedToResend += 1;
      else if (reply.code === '0') return reply;
      else fail(during, `${name}: ${reply.text}`);
    } catch (error) {
      fail(during, `${name}: ${error instanceof Error ? error.message : error}`);
    } finally {
      answered += 1;
      during.requests += 1;
      during.slowestMs = Math.max(during.slowestMs, performance.now() - begun);
    }
    return undefined;
  }

  function fail(during: Phase, what: string): void {
    during.failed += 1;
    failures.push(`${during.name}: ${what.slice(0, 400)}`);
  }

  async function caller(): Promise<void> {
    const [first] = clients.values();
    if (!first) throw new Error('there is no node to call');
    while (!isOver) {
      const request = collectRequest(first);
      const key = request.externalOrderNo;
      const created = await call('orders/create', request, key);
      if (!created) continue;
      const { orderNo } = created.data;
      orders.add(orderNo);
      const again = await call('orders/create', request, key);
      if (again && again.data.orderNo !== orderNo) fail(phase, `a resend of ${orderNo} made ${again.data.orderNo}`);
      const found = await call('orders/query', { orderNo });
      if (found && found.data.orderNo !== orderNo) fail(phase, `a query of ${orderNo} found ${found.data.orderNo}`);
      const list = await call('orders/list', { channelUserId: request.channelUserId });
      if (list && list.data.orders[0]?.orderNo !== orderNo) fail(phase, `${orderNo} is not listed: ${list.text}`);
    }
  }

  const running = Promise.all(Array.from({ length: callers }, caller));
  return {
    phase(name: string): void {
      phase = enter(name);
    },
    /** Waits for `count` more responses. */
    async answered(count: number): Promise<void> {
      const wanted = answered + count;
      await until('calls are answered', () => answered >= wanted, 300_000);
    },
    async stop() {
      isOver = true;
      await running;
      const columns = (cells: readonly (string | number)[]) =>
        cells.map((cell, index) => (index === 0 ? String(cell).padEnd(36) : String(cell).padStart(12))).join('');
      return {
        failures,
        table: [
          columns(['phase', 'requests', 'failed', '409002', 'slowest ms']),
          ...phases.map(({ name, requests, failed, askedToResend, slowestMs }) =>
            columns([name, requests, failed, askedToResend, Math.round(slowestMs)]),
          ),
        ],
      };
    },
    /** Returns a line for each acknowledged order that is not in the database. */
    async lost(database: Database): Promise<string[]> {
      const rows = await database.query<{ orderNo: string }>('select order_no::text as "orderNo" from external_orders');
      const there = new Set(rows.map(({ orderNo }) => orderNo));
      return [...orders].filter((orderNo) => !there.has(orderNo)).map((orderNo) => `order ${orderNo} is lost`);
    },
  };
}
