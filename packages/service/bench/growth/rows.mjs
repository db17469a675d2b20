import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { sealInstitutionNo } from '../../dist/subscriptions/store/agreements/card.js';
import { tokenOf } from '../channel.mjs';
import { cpuOfProcess } from '../cpu.mjs';
import { makeEvents } from '../deliveries/events.mjs';
import { walBytes } from '../orders.mjs';
import { rowNamed } from '../rows.mjs';
import { median } from '../table.mjs';
import { FIRST_ORDER, placeAtFirstChannel, userOf } from './load.mjs';

/** The limits of the work that each process does before the measurement. */
const WARM_UP = { seconds: 4, most: 12_000 };
const SEARCHES = 600;
/** The number of orders to bill (mode B) for each order to debit (mode A). A bill takes a tenth of a debit's time. */
const BILLED_FOR_EACH = 4;

/**
 * Measures a row on the given databases in turn, A B A B, so that a slow change of the machine's speed affects both.
 * The first database has grown; the second, if any, has stayed small. The figures are medians over the first database's
 * runs; the relative cost is the median over the pairs of runs.
 */
export async function measureOn(places, { name, runs, ...options }) {
  const started = [];
  for (const { place, size } of places) started.push(await start(place, KINDS[name], { ...options, size }));
  const turns = [];
  for (let run = 0; run < runs; run += 1) {
    const turn = [];
    for (const { measure } of started) turn.push(await measure());
    turns.push(turn);
  }
  for (const { end } of started) await end();
  const [grown, small] = [0, 1].map((at) => turns.flatMap((turn) => turn[at] ?? []));
  const beside = (key) => median(turns.map(([one, other = one]) => one[key] / other[key]));
  return {
    ...medians(grown),
    small: small.length > 0 ? medians(small) : undefined,
    cost: beside('cpu'),
    pace: beside('rate'),
  };
}

function medians(all) {
  return Object.fromEntries(Object.keys(all[0]).map((key) => [key, median(all.map((one) => one[key]))]));
}

/** Starts a new process for the row, on one database. The process does the row's work once before the measurement. */
async function start(place, { file, prepare }, options) {
  const node = place.running.startHelper('a node', file);
  const { value } = await node.ask('open', place.place);
  const { warm, run, end } = await prepare({ ...place, node, opened: value }, options);
  await (warm ?? run)();
  return {
    measure: () => run(),
    async end() {
      await end?.();
      await node.ask('close');
      await node.end();
    },
  };
}

/** Measures requests of clients that each wait for a response before the next request. */
function sent(name) {
  return {
    file: 'growth/node.mjs',
    async prepare(place, { size, seconds }) {
      const own = { ...place.secrets, channelId: place.channel.channelId };
      const channel = { ...own, token: await tokenOf(place.opened, own), orders: size };
      const load = place.running.startHelper('the load', 'load.mjs');
      const { connections } = rowNamed(name);
      const port = Number(new URL(place.opened).port);
      let rate;
      const run = async (forSeconds, count) => {
        await load.ask('prepare', { row: name, channel, count });
        return measured(place, async () => {
          const result = await load.ask('run', { port, connections, seconds: forSeconds, again: false });
          if (result.failed > 0)
            throw new Error(`${result.failed} of ${result.requests} failed: ${result.firstFailure}`);
          return { count: result.requests, rate: result.rate, p99: result.p99 };
        });
      };
      return {
        async warm() {
          ({ rate } = await run(WARM_UP.seconds, WARM_UP.most));
        },
        run: () => run(seconds, Math.ceil(rate * seconds * 2) + 1_000),
        end: () => load.end(),
      };
    },
  };
}

/**
 * Measures the search for texts that operators use: an order number, the channel's own order number and the user, in
 * turn.
 */
const searched = {
  file: 'growth/node.mjs',
  prepare(place, { size }) {
    const any = () => placeAtFirstChannel(Math.floor(Math.random() * Math.floor(size / 3)));
    const textOf = [(n) => String(FIRST_ORDER + n), (n) => `growth-order-${n}`, userOf];
    const texts = () => Array.from({ length: SEARCHES }, (_, n) => textOf[n % textOf.length](any()));
    return {
      run: () => measured(place, async () => ({ count: (await place.node.ask('search', { texts: texts() })).value })),
    };
  },
};

/**
 * Measures the renewal of orders of one mode. Before each measurement, the orders with the next due times are made due
 * now.
 */
function renewed(mode, command) {
  return {
    file: 'renewals/node.mjs',
    prepare: (place, { due: debited }) => ({
      async run() {
        const due = mode === 'SVC_DEDUCT' ? debited : debited * BILLED_FOR_EACH;
        await makeDue(place, mode, due);
        await place.maker.query('checkpoint');
        return measured(place, async () => {
          const { value } = await place.node.ask(command);
          if (value !== due) throw new Error(`${value} of ${due} orders were renewed`);
          return { count: value };
        });
      },
    }),
  };
}

async function makeDue({ maker, channel }, mode, due) {
  const next = await maker.query(
    `select order_no as "orderNo" from orders where settlement_mode = $1 and next_due_at > now()
       and (channel_id = $2 or $1 <> 'SVC_DEDUCT') and order_no >= ${FIRST_ORDER} and latest_payment_status <> 'FAIL_RETRY' order by next_due_at limit $3`,
    [mode, channel.channelId, due],
  );
  if (next.length < due) throw new Error(`only ${next.length} orders can be made due`);
  const numbers = next.map(({ orderNo }) => Number(orderNo));
  await maker.query(`update orders set next_due_at = now() - interval '1 minute' where order_no = any($1::bigint[])`, [
    numbers,
  ]);
  if (mode !== 'SVC_DEDUCT') return;
  await maker.query(
    `update agreements a set institution_no = n.institution_no from unnest($1::bigint[], $2::text[]) as n(id, institution_no)
     where a.agreement_id = n.id`,
    [numbers, numbers.map((id) => sealInstitutionNo(channel, id, `growth-${id}-good`))],
  );
}

/** Measures the delivery of events that are all due, for ten channels. */
const delivered = {
  file: 'deliveries/node.mjs',
  async prepare(place, { events }) {
    const { maker, node, receiver, receivers } = place;
    // Removes the events that other rows left in the queue.
    await maker.query('truncate due_events');
    return {
      async run() {
        await receiver.ask('forget');
        await node.ask('prepare');
        await shardsOf(maker);
        await makeEvents(maker, receivers, events);
        return measured(place, async () => {
          await node.ask('begin');
          while ((await receiver.ask('count')).value < events) await delay(5);
          await node.ask('finish');
          return { count: events };
        });
      },
    };
  },
};

/** Waits until every delivery shard has an owner. */
async function shardsOf(maker) {
  for (;;) {
    const [{ free }] = await maker.query('select count(*)::integer as free from delivery_shards where owner is null');
    if (free === 0) return;
    await delay(20);
  }
}

/** Measures the cost per item of `work`, which returns the number of items done. */
async function measured({ server, maker, node }, work) {
  const snapshot = async () => ({ node: cpuOfProcess(node.pid), postgres: server.cpu(), wal: await walBytes(maker) });
  const before = await snapshot();
  const since = performance.now();
  const { count, ...figures } = await work();
  const seconds = (performance.now() - since) / 1000;
  const after = await snapshot();
  const each = (key) => (after[key] - before[key]) / count;
  const [nodeCpu, postgresCpu] = [each('node'), each('postgres')];
  return { rate: count / seconds, ...figures, nodeCpu, postgresCpu, cpu: nodeCpu + postgresCpu, walBytes: each('wal') };
}

const KINDS = {
  create: sent('growth create x16'),
  query: sent('growth query x16'),
  list: sent('growth list x16'),
  search: searched,
  'renew B': renewed('CHANNEL_COLLECT', 'bill'),
  'renew A': renewed('SVC_DEDUCT', 'renew'),
  deliver: delivered,
};
