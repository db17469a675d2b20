import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { sealInstitutionNo } from '../../dist/subscriptions/store/agreements/card.js';
import { tokenOf } from '../channel.mjs';
import { cpuOfProcess } from '../cpu.mjs';
import { makeEvents } from '../deliveries/events.mjs';
import { walBytes } from '../orders.mjs';
import { rowNamed } from '../rows.mjs';
import { median } from '../table.mjs';
import { FIRST_ORDER, placeAtFirstChannel } from './load.mjs';

/** Before anything is measured, by the process that is measured then: as much at each size. */
const WARM_UP = { seconds: 4, most: 12_000, searches: 600 };
const SEARCHES = 600;

const KINDS = {
  create: sent('growth create x16'),
  query: sent('growth query x16'),
  list: sent('growth list x16'),
  search: searched,
  'renew B': renewed('CHANNEL_COLLECT', 'bill'),
  'renew A': renewed('SVC_DEDUCT', 'renew'),
  deliver: delivered,
};

export const measureOn = (stage, { name, ...options }) => KINDS[name](stage, options);

/** Requests of clients that wait for their answers. */
function sent(name) {
  return (stage, { size, seconds, runs }) =>
    withProcess(stage, 'growth/node.mjs', async (node, baseUrl) => {
      const own = { ...stage.secrets, channelId: stage.channel.channelId };
      const channel = { ...own, token: await tokenOf(baseUrl, own), orders: size };
      const load = stage.running.startHelper('the load', 'load.mjs');
      const { connections } = rowNamed(name);
      const port = Number(new URL(baseUrl).port);
      const run = async (forSeconds, count) => {
        await load.ask('prepare', { row: name, channel, count });
        return measured(stage, [node.pid], async () => {
          const result = await load.ask('run', { port, connections, seconds: forSeconds, again: false });
          if (result.failed > 0)
            throw new Error(`${result.failed} of ${result.requests} failed: ${result.firstFailure}`);
          return { count: result.requests, rate: result.rate, p99: result.p99 };
        });
      };
      const { rate } = await run(WARM_UP.seconds, WARM_UP.most);
      const all = await repeated(runs, () => run(seconds, Math.ceil(rate * seconds * 1.5) + 500));
      await load.end();
      return all;
    });
}

/** What somebody of the operators types: the number of an order, the channel's number of it, its user, in turn. */
function searched(stage, { size, runs }) {
  const any = () => placeAtFirstChannel(Math.floor(Math.random() * Math.floor(size / 3)));
  const textOf = [
    (n) => String(FIRST_ORDER + n),
    (n) => `growth-order-${n}`,
    (n) => `growth-user-${Math.floor(n / 2)}`,
  ];
  const texts = (count) => Array.from({ length: count }, (_, n) => textOf[n % textOf.length](any()));
  return withProcess(stage, 'growth/node.mjs', async (node) => {
    const run = (count) =>
      measured(stage, [node.pid], async () => ({ count: (await node.ask('search', { texts: texts(count) })).value }));
    await run(WARM_UP.searches);
    return repeated(runs, () => run(SEARCHES));
  });
}

/** So many orders of the mode, those that would be due next, are due now. */
function renewed(mode, command) {
  return (stage, { due, runs }) =>
    withProcess(stage, 'renewals/node.mjs', async (node) => {
      const run = async () => {
        await makeDue(stage, mode, due);
        await stage.maker.query('checkpoint');
        return measured(stage, [node.pid], async () => {
          const { value } = await node.ask(command);
          if (value !== due) throw new Error(`${value} of ${due} orders were renewed`);
          return { count: value };
        });
      };
      await run();
      return repeated(runs, run);
    });
}

async function makeDue({ maker, channel }, mode, due) {
  const made = await maker.query(
    `update orders o set next_due_at = now() - interval '1 minute'
     from (select order_no from orders where settlement_mode = $1 and next_due_at > now() and channel_id = $2
         and order_no >= ${FIRST_ORDER} and latest_payment_status <> 'FAIL_RETRY' order by next_due_at limit $3) d
     where o.order_no = d.order_no returning o.order_no as "orderNo"`,
    [mode, channel.channelId, due],
  );
  if (made.length !== due) throw new Error(`only ${made.length} orders can be made due`);
  if (mode !== 'SVC_DEDUCT') return;
  const numbers = made.map(({ orderNo }) => Number(orderNo));
  await maker.query(
    `update agreements a set institution_no = n.institution_no from unnest($1::bigint[], $2::text[]) as n(id, institution_no)
     where a.agreement_id = n.id`,
    [numbers, numbers.map((id) => sealInstitutionNo(channel, id, `growth-${id}-good`))],
  );
}

/** Events that are all due, to ten channels. */
function delivered(stage, { events, runs }) {
  const { maker, receiver, receivers } = stage;
  return withProcess(stage, 'deliveries/node.mjs', async (node) => {
    // Nobody waits for what the other rows have told.
    await maker.query('truncate due_events');
    const run = async () => {
      await receiver.ask('forget');
      await node.ask('prepare');
      await shardsOf(maker);
      await makeEvents(maker, receivers, events);
      return measured(stage, [node.pid], async () => {
        await node.ask('begin');
        while ((await receiver.ask('count')).value < events) await delay(5);
        await node.ask('finish');
        return { count: events };
      });
    };
    await run();
    await maker.query('checkpoint');
    return repeated(runs, run);
  });
}

async function shardsOf(maker) {
  for (;;) {
    const [{ free }] = await maker.query('select count(*)::integer as free from delivery_shards where owner is null');
    if (free === 0) return;
    await delay(20);
  }
}

/** A process for the row alone: at each size it is as new as at the one before. */
async function withProcess({ running, place }, file, work) {
  const helper = running.startHelper('a node', file);
  const { value } = await helper.ask('open', place);
  const result = await work(helper, value);
  await helper.ask('close');
  await helper.end();
  return result;
}

/** What `work` takes for each that it says it has done. */
async function measured({ server, maker }, pids, work) {
  const nodeCpu = () => pids.reduce((sum, pid) => sum + cpuOfProcess(pid), 0);
  const snapshot = async () => ({ node: nodeCpu(), postgres: server.cpu(), wal: await walBytes(maker) });
  const before = await snapshot();
  const since = performance.now();
  const { count, ...figures } = await work();
  const seconds = (performance.now() - since) / 1000;
  const after = await snapshot();
  const each = (key) => (after[key] - before[key]) / count;
  return {
    rate: count / seconds,
    ...figures,
    nodeCpu: each('node'),
    postgresCpu: each('postgres'),
    walBytes: each('wal'),
  };
}

/** Medians of so many runs. */
async function repeated(runs, run) {
  const all = [];
  for (let n = 0; n < runs; n += 1) all.push(await run());
  const cpu = median(all.map(({ nodeCpu, postgresCpu }) => nodeCpu + postgresCpu));
  const middle = (key) => [key, median(all.map((one) => one[key]))];
  return { ...Object.fromEntries(Object.keys(all[0]).map(middle)), cpu };
}
