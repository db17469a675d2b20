import { stage } from '../orders/support.js';
import type { CallOptions } from '../support/channel-client.js';
import { collectRequest, sharedRequest } from '../support/demo.js';

/** Starts a service with functions for time travel. Its orders are created at 2026-01-31 12:00:00. */
export async function timeMachine(more: Parameters<typeof stage>[0] = {}) {
  const base = await stage(more);
  const { channel } = base;
  const { database } = base.service.fresh;
  const create = async (request: object): Promise<string> => {
    const reply = await channel.call('orders/create', request);
    if (reply.code !== '0') throw new Error(`orders/create answered ${reply.text}`);
    return reply.data.orderNo;
  };
  return {
    ...base,
    create,
    deducted: (more: Record<string, unknown> = {}) => create(sharedRequest(channel, more)),
    collected: (more: Record<string, unknown> = {}) => create(collectRequest(channel, more)),
    advance: (orderNo: string, body: object, options?: CallOptions) =>
      channel.call('sandbox/orders/advance', { orderNo, ...body }, options),
    query: async (orderNo: string) => (await channel.call('orders/query', { orderNo })).data,
    /** Returns each event of an order as a line with time, subject and status. */
    async told(orderNo: string) {
      const events = await database.query<{ line: string }>(
        `select concat(left(occurred_at::text, 19), ' ', coalesce('period ' || cycle_no, 'order'), ' ',
           coalesce(data::json ->> 'paymentStatus', data::json ->> 'orderStatus')) as line
         from events where order_no = $1 order by event_no`,
        [orderNo],
      );
      return events.map(({ line }) => line);
    },
    /** Returns the rows of an order in all tables, to compare them before and after. */
    async everything(orderNo: string) {
      const tables = ['orders', 'payments', 'debit_attempts', 'benefits', 'events'];
      return Promise.all(
        tables.map((table) =>
          database.query(`select to_json(t)::text as row from ${table} t where order_no = $1 order by 1`, [orderNo]),
        ),
      );
    },
  };
}

export type TimeMachine = Awaited<ReturnType<typeof timeMachine>>;

export const statuses = (order: { paymentRecords: { paymentStatus: string }[] }): string[] =>
  order.paymentRecords.map(({ paymentStatus }) => paymentStatus);
