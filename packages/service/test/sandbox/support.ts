import { type Stage, stage } from '../orders/support.js';
import type { CallOptions, Reply } from '../support/channel-client.js';
import { collectRequest, sharedRequest } from '../support/demo.js';

/** A stage with orders to send through time. */
export interface TimeMachine extends Stage {
  /** The number of a new order, created at 2026-01-31 12:00:00. */
  deducted(more?: Record<string, unknown>): Promise<string>;
  collected(more?: Record<string, unknown>): Promise<string>;
  advance(orderNo: string, body: object, options?: CallOptions): Promise<Reply>;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
  query(orderNo: string): Promise<any>;
  /** Each event as `time what status`. */
  told(orderNo: string): Promise<string[]>;
  /** What every table says about an order, to see that nothing changed. */
  everything(orderNo: string): Promise<unknown>;
}

export async function timeMachine(): Promise<TimeMachine> {
  const base = await stage();
  const { channel } = base;
  const { database } = base.service.fresh;
  const create = async (request: object): Promise<string> => {
    const reply = await channel.call('orders/create', request);
    if (reply.code !== '0') throw new Error(`orders/create answered ${reply.text}`);
    return reply.data.orderNo;
  };
  return {
    ...base,
    deducted: (more = {}) => create(sharedRequest(channel, more)),
    collected: (more = {}) => create(collectRequest(channel, more)),
    advance: (orderNo, body, options) => channel.call('sandbox/orders/advance', { orderNo, ...body }, options),
    query: async (orderNo) => (await channel.call('orders/query', { orderNo })).data,
    async told(orderNo) {
      const events = await database.query<{ line: string }>(
        `select concat(left(occurred_at::text, 19), ' ', coalesce('period ' || cycle_no, 'order'), ' ',
           coalesce(data::json ->> 'paymentStatus', data::json ->> 'orderStatus')) as line
         from events where order_no = $1 order by event_no`,
        [orderNo],
      );
      return events.map(({ line }) => line);
    },
    async everything(orderNo) {
      const tables = ['orders', 'payments', 'debit_attempts', 'benefits', 'events'];
      return Promise.all(
        tables.map((table) =>
          database.query(`select to_json(t)::text as row from ${table} t where order_no = $1 order by 1`, [orderNo]),
        ),
      );
    },
  };
}

export const statuses = (order: { paymentRecords: { paymentStatus: string }[] }): string[] =>
  order.paymentRecords.map(({ paymentStatus }) => paymentStatus);
