import { isDeepStrictEqual } from 'node:util';
import type { Operator } from '../../src/operator/operator.js';
import { setCallback } from '../../src/operator/provisioning/channel-settings.js';
import { createChannel } from '../../src/operator/provisioning/channels.js';
import { authorizePaymentChannel } from '../../src/operator/provisioning/payment-channel-authorizations.js';
import { authorizeProduct } from '../../src/operator/provisioning/products.js';
import type { Database } from '../../src/platform/db/database.js';
import {
  type ChannelClient,
  type ChannelCredentials,
  channelClient,
  type Reply,
} from '../../test/support/channel-client.js';
import { collectRequest, encrypted, mobileOf, sharedRequest, unique } from '../../test/support/demo.js';
import { until } from '../../test/support/processes.js';
import type { Receiver } from './receiver.js';

const IN_PROGRESS = '409002';
const RENEWED = 'TEST_SPU_DAILY_7';

/**
 * Inserts old orders, events and pushes, which every migration has to process. They are copies of an order that the
 * older version created, so they have that version's columns.
 */
export async function seedRows(database: Database, orderNo: string, count: number): Promise<string> {
  await database.transaction(
    async (tx) => {
      // Disables triggers, so that no node sends these events.
      await tx.query('set local session_replication_role = replica');
      for (const table of ['orders', 'external_orders']) {
        await tx.query(
          `insert into ${table}
         select copy.* from generate_series(1, $2::integer) n
         join ${table} made on made.order_no = $1
         cross join lateral jsonb_populate_record(made, jsonb_build_object('order_no', n, 'channel_id', 9999,
           'external_order_no', 'seed-' || n, 'channel_user_id', 'user-' || n % 1000,
           'user_key', key_of('user-' || n % 1000), 'status', 'COMPLETED', 'next_due_at', null,
           'total_cycles', n % 2 + 1, 'single', n % 2 = 0, 'created_at', now() - n * interval '1 s')) as copy`,
          [orderNo, count],
        );
      }
      await tx.query(
        `insert into events (channel_id, order_no, event_type, occurred_at, data, recorded_at)
       select 9999, order_no, case when order_no % 2 = 0 then 'payment.status.changed' else 'order.status.changed' end,
         created_at, '{}', created_at from orders where channel_id = 9999`,
      );
      await tx.query(
        `insert into delivery_attempts
       select push.* from events e cross join lateral jsonb_populate_record(null::delivery_attempts,
         jsonb_build_object('channel_id', 9999, 'event_no', event_no, 'at', recorded_at, 'cycle_no', 0, 'outcome', 'ACCEPTED',
           'retry_no', 0, 'http_status', 200, 'latency_ms', 5, 'recorded_at', recorded_at,
           'is_payment', event_type = 'payment.status.changed', 'is_notice', false)) as push
       where e.channel_id = 9999`,
      );
    },
    { statementMs: 300_000 },
  );
  return `${count} orders, as many events and pushes`;
}

export interface PlayOptions {
  readonly operator: Operator;
  readonly older: readonly string[];
  readonly newer: readonly string[];
  /** The receiver of the channels' events. */
  readonly events: Receiver;
  readonly channels: number;
  readonly say: (line: string) => void;
}

/** An answered request, to be sent again later. */
interface Answered {
  readonly client: ChannelCredentials;
  readonly name: string;
  readonly body: unknown;
  readonly key: string;
  readonly data: unknown;
}

/**
 * Plays orders of all three kinds, with renewals and endings. Each order is begun at a node of one version and
 * continued at a node of the same or the other version.
 */
export async function crossVersionPlay({ operator, older, newer, events, channels: count, say }: PlayOptions) {
  const { database } = operator;
  const findings: string[] = [];
  const toResend: Answered[] = [];
  const renewing: string[] = [];
  let resends = 0;
  let askedAgain = 0;

  const channels = [];
  for (let n = 0; n < count; n += 1) channels.push(await openChannel(operator, events));
  await Promise.all(
    channels.map(async (credentials, n) => {
      const nodes = { older: older[n % older.length] ?? '', newer: newer[n % newer.length] ?? '' };
      for (const first of ['older', 'newer'] as const) {
        for (const second of ['older', 'newer'] as const) {
          const at = {
            first: channelClient(nodes[first], credentials),
            second: channelClient(nodes[second], credentials),
          };
          await scenario(at).catch((error: unknown) => {
            findings.push(`${first} then ${second}: ${error instanceof Error ? error.message : error}`);
          });
        }
      }
    }),
  );
  say(`resends across versions: ${resends}, of which ${askedAgain} were asked to come again (409002)`);

  await database.query(`update orders set next_due_at = now() where order_no = any($1::bigint[])`, [renewing]);
  await until(
    'renewals are done',
    async () => {
      const [row] = await database.query<{ open: number }>(
        `select count(*) as open from orders where order_no = any($1::bigint[]) and paid_cycles < 2`,
        [renewing],
      );
      return row?.open === 0;
    },
    120_000,
  );
  say(`renewals debited by both versions' nodes: ${renewing.length}`);

  const ids = `(select channel_id from channels where app_id = any($1))`;
  const appIds = channels.map(({ appId }) => appId);
  await until(
    'events are delivered',
    async () => {
      const [row] = await database.query<{ due: number }>(
        `select count(*) as due from due_events where channel_id in ${ids}`,
        [appIds],
      );
      return row?.due === 0;
    },
    120_000,
  );
  const owners = await database.query('select owner from delivery_shards where owner is not null group by owner');
  const expected = await database.query<{ eventNo: number }>(
    `select event_no as "eventNo" from events where channel_id in ${ids}`,
    [appIds],
  );
  const missing = expected.filter(({ eventNo }) => !events.received.has(eventNo));
  findings.push(...missing.map(({ eventNo }) => `event ${eventNo} never came`), ...events.forged);
  say(`events delivered by ${owners.length} nodes: ${expected.length}, of which ${events.repeated()} more than once`);

  /** Returns the response. Throws unless it is a success. */
  async function call(
    client: ChannelClient,
    name: string,
    body: unknown,
    idempotencyKey = unique('key'),
  ): Promise<Reply> {
    const reply = await client.call(name, body, { idempotencyKey });
    if (reply.code !== '0') throw new Error(`${name} answered ${reply.text}`);
    return reply;
  }

  /** Calls one node, and then sends the same request to another node. */
  async function callTwice(
    { first, second }: { first: ChannelClient; second: ChannelClient },
    name: string,
    body: unknown,
  ): Promise<Reply> {
    const key = unique('key');
    const reply = await call(first, name, body, key);
    resends += 1;
    const again = await second.call(name, body, { idempotencyKey: key });
    toResend.push({ client: first.credentials, name, body, key, data: reply.data });
    if (again.code === IN_PROGRESS) askedAgain += 1;
    else if (!isDeepStrictEqual(again.data, reply.data)) throw new Error(`${name}, sent again, answered ${again.text}`);
    return reply;
  }

  async function scenario(at: { first: ChannelClient; second: ChannelClient }): Promise<void> {
    const { first, second } = at;
    const collected = await callTwice(at, 'orders/create', collectRequest(first));
    const ended = { orderNo: collected.data.orderNo, reason: 'upgrade' };
    await callTwice({ first: second, second: first }, 'orders/unsubscribe', ended);
    const { data: seen } = await call(first, 'orders/query', { orderNo: ended.orderNo });
    if (seen.orderStatus !== 'UNSUBSCRIBED') throw new Error(`an unsubscribed order is ${seen.orderStatus}`);

    const shared = await callTwice(at, 'orders/create', sharedRequest(first, { productCode: RENEWED }));
    const user = unique('user');
    const sent = await call(first, 'agreements/bind-sms', {
      channelUserId: user,
      mobileEncrypted: encrypted(first, mobileOf(user)),
      bankCardNoEncrypted: encrypted(first, '6222020000001234567'),
      certificateNoEncrypted: encrypted(first, '110101199001011234'),
      realNameEncrypted: encrypted(first, '张三'),
      bankMobileEncrypted: encrypted(first, '13800000001'),
    });
    const { bindOrderNo } = sent.data;
    const smsCodeEncrypted = encrypted(first, '123456');
    await callTwice({ first: second, second: first }, 'agreements/bind-confirm', { bindOrderNo, smsCodeEncrypted });
    const bound = await callTwice(at, 'orders/create', {
      settlementMode: 'SVC_DEDUCT',
      externalOrderNo: unique('order'),
      productCode: RENEWED,
      bindOrderNo,
    });
    for (const { data } of [shared, bound]) {
      if (data.orderStatus !== 'ACTIVE') throw new Error(`an order is ${data.orderStatus}: ${data.orderNo}`);
      renewing.push(data.orderNo);
    }
  }

  return {
    /**
     * Called after the older nodes are gone. Checks that resent requests get the same answers and that no money moved
     * twice.
     */
    async afterwards(url: string): Promise<string[]> {
      for (const { client, name, body, key, data } of toResend) {
        const again = await channelClient(url, client).call(name, body, { idempotencyKey: key });
        if (!isDeepStrictEqual(again.data, data))
          findings.push(`${name}, sent again at the end, answered ${again.text}`);
      }
      const wrong = await database.query<{ orderNo: string }>(
        `select o.order_no::text as "orderNo" from orders o where o.order_no = any($1::bigint[]) and (o.paid_cycles <> 2
           or o.paid_amount_cent <> 2 * o.amount_cent
           or (select count(*) from debit_attempts d where d.order_no = o.order_no and d.status = 'SUCCESS') <> 2)`,
        [renewing],
      );
      findings.push(...wrong.map(({ orderNo }) => `order ${orderNo} was not debited twice in two periods`));
      const untold = await database.query<{ eventNo: number }>(
        `select e.event_no as "eventNo" from events e where e.channel_id in ${ids} and not exists (
           select from delivery_attempts t where t.outcome = 'ACCEPTED' and t.channel_id = e.channel_id
             and t.event_no = e.event_no and t.recorded_at = e.recorded_at
             and t.is_payment = (e.event_type = 'payment.status.changed'))`,
        [appIds],
      );
      findings.push(...untold.map(({ eventNo }) => `the push of event ${eventNo} is not written down`));
      say(`answers given again by this version alone: ${toResend.length}`);
      return findings;
    },
  };
}

async function openChannel(operator: Operator, events: Receiver) {
  const channel = await createChannel(operator, { name: 'Upgrade', ratePerSecond: 100_000 });
  const { appId } = channel;
  for (const productCode of ['TEST_SPU_001', RENEWED]) await authorizeProduct(operator, { appId, productCode });
  await authorizePaymentChannel(operator, { appId, code: 'MOCKPAY', isDefault: true, shareEnabled: true });
  const url = events.add(appId, channel.callbackSecret);
  await setCallback(operator, { appId, url });
  return channel;
}
