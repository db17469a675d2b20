import { EventEmitter, once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { type Database, type DatabaseOptions, openDatabase } from '../../src/platform/db/database.js';
import { stageOfFile } from '../orders/stage-of-file.js';
import { paid } from '../orders/support.js';
import { type ChannelClient, type Reply, send } from '../support/channel-client.js';
import { collectRequest, sharedRequest, unique } from '../support/demo.js';
import { until } from '../support/processes.js';
import { anotherNode, type Node } from '../support/second-node.js';
import { type Network, network } from '../support/slow-network.js';

/** Tests a node behind a network that can be frozen: sockets stay open, but no bytes pass. */
const { on } = stageOfFile();
let between: Network;
let database: Database;
let node: Node;
let channel: ChannelClient;
/** The limits with which the database client soon gives up a statement. */
const IMPATIENT = { statementMs: 1_000 };
/** The limits with which no statement is given up during a test, so that the node itself must detect the silence. */
const PATIENT = { statementMs: 600_000 };
async function open(limits: Partial<DatabaseOptions>): Promise<void> {
  between = await network(on.service.fresh.url);
  database = openDatabase({ url: between.url, pool: 4, name: 'far node', ...limits });
  const gateways = { of: async () => on.institution };
  node = await anotherNode(on.service, { database, gateways, testLimits: { idempotency: { leaseSeconds: 1 } } });
  channel = node.client(on.channel);
  expect((await channel.call('products/list', {})).code).toBe('0');
}
afterEach(async () => {
  between.thaw();
  await node.close();
  await between.close();
  await database.close();
});

const ready = async () => (await send(node.baseUrl, 'GET', '/readyz', {}, Buffer.alloc(0))).status;

const codes = (replies: readonly Reply[]) => new Set(replies.map(({ code }) => code));

describe('a database that stops answering while its sockets stay open', () => {
  it('503001 for all requests meanwhile, not ready, and recovered afterwards', async () => {
    await open(PATIENT);
    between.freeze();
    const first = Array.from({ length: 40 }, (_, index) =>
      channel.call(index % 2 ? 'products/list' : 'orders/create', index % 2 ? {} : collectRequest(channel)),
    );
    expect(await ready()).toBe(503);
    expect(codes(await Promise.all(first))).toEqual(new Set(['503001']));
    // The node has noticed the silence, so it sends no statement.
    await expect(database.query(`select 'in vain'`)).rejects.toThrow('database unavailable');
    expect(between.hasHeard('in vain')).toBe(false);
    expect((await channel.call('products/list', {})).code).toBe('503001');
    between.thaw();
    await until('ready', async () => (await ready()) === 200);
    expect((await channel.call('orders/create', collectRequest(channel))).code).toBe('0');
  });

  it('a late answer is not used for another statement', async () => {
    await open(IMPATIENT);
    between.freezeAfter('the first');
    await expect(database.query(`select 'the first' as said`)).rejects.toThrow('database unavailable');
    between.thaw();
    await until('an answer', () =>
      database.ping(1000).then(
        () => true,
        () => false,
      ),
    );
    const said = await Promise.all([2, 3, 4, 5, 6].map((n) => database.query('select $1::integer as said', [n])));
    expect(said).toEqual([2, 3, 4, 5, 6].map((n) => [{ said: n }]));
  });

  it.each<[string, (channel: ChannelClient) => object, number, () => void]>([
    ['billed, in one statement', collectRequest, 0, () => between.freezeAfter('store-new-orders')],
    ['debited, when the attempt is stored', sharedRequest, 1, () => between.freezeAfter('store-new-orders')],
    [
      'debited, when the result is settled',
      sharedRequest,
      1,
      () => {
        on.institution.onDebit = async (debit) => {
          between.freezeAfter('settle-known-debits');
          return paid(debit);
        };
      },
    ],
  ])(
    'an order that is %s and whose commit nobody heard of: there is one, debited once',
    async (_how, request, debits, freeze) => {
      await open(IMPATIENT);
      on.institution.reset();
      const sent = () => on.institution.debits.map(({ attemptNo }) => attemptNo);
      on.institution.onQuery = async (query) =>
        sent().includes(query.attemptNo) ? paid(query) : { kind: 'not-found' };
      const body = request(channel);
      const key = { idempotencyKey: unique('key') };
      freeze();
      expect((await channel.call('orders/create', body, key)).code).toBe('503001');
      between.thaw();
      const again = await until('the answer that was owed', async () => {
        const reply = await channel.call('orders/create', body, key);
        return reply.code === '503001' || reply.code === '409002' ? undefined : reply;
      });
      expect(again.code).toBe('0');
      const { externalOrderNo } = body as { externalOrderNo: string };
      const orders = await on.service.fresh.database.query('select from orders where external_order_no = $1', [
        externalOrderNo,
      ]);
      expect(orders).toHaveLength(1);
      expect(sent()).toHaveLength(debits);
    },
  );
});

it('a server whose processes for this node are suspended: 503001, then new processes', async () => {
  await open(IMPATIENT);
  const rows = await on.service.fresh.database.query<{ pid: number }>(
    `select pid from pg_stat_activity where application_name = 'far node'`,
  );
  const pids = rows.map(({ pid }) => pid);
  expect(pids.length).toBeGreaterThan(0);
  for (const pid of pids) process.kill(pid, 'SIGSTOP');
  try {
    const replies = await Promise.all(Array.from({ length: 20 }, () => channel.call('products/list', {})));
    expect([...codes(replies)].every((code) => code === '503001' || code === '0')).toBe(true);
    expect(codes(replies)).toContain('503001');
    await until('an answer', async () => (await channel.call('products/list', {})).code === '0');
  } finally {
    for (const pid of pids) process.kill(pid, 'SIGCONT');
  }
});

it('a connection attempt that gets no answer is given up before the database counts as answering again', async () => {
  await open(PATIENT);
  const events = new EventEmitter();
  const cable = await network(on.service.fresh.url);
  const far = openDatabase({
    url: cable.url,
    pool: 2,
    name: 'behind a cable',
    ...PATIENT,
    onUnresponsive: (isSilent) => void events.emit(isSilent ? 'silent' : 'answering'),
  });
  try {
    await far.query('select 1');
    cable.freeze();
    const refused: string[] = [];
    const probed = cable.opened();
    const first = far.query('select 2').catch(() => refused.push('statement'));
    await probed;
    const isSilent = once(events, 'silent');
    const second = far.query('select 3').catch(() => refused.push('connection attempt'));
    await isSilent;
    const isAnswering = once(events, 'answering');
    cable.thawForNew();
    await isAnswering;
    expect(refused.toSorted()).toEqual(['connection attempt', 'statement']);
    await Promise.all([first, second]);
    expect(await far.query('select 4 as said')).toEqual([{ said: 4 }]);
  } finally {
    await cable.close();
    await far.close();
  }
});
