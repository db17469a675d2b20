// A channel that has done nothing wrong and goes on calling while another one attacks. A process of its own, so that what it
// waits for is the service and not the attacker's work; it ends with the one that started it.
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { performance } from 'node:perf_hooks';
import { caller, exchange, orderOf, tally } from './caller.mjs';

const PRODUCT = 'TEST_SPU_001';
const TICK_MS = 50;
/** Every so many ticks /healthz is asked as well: it needs no database, so it waits for the node alone. */
const TICKS_PER_PROBE = 2;
const WARM_UP_ROUNDS = 5;

let channel;
let baseUrl;
let pid;
let ticking;
let peakMb = 0;
let ticks = 0;
let latest;
const probes = new http.Agent({ keepAlive: true });
const underWay = new Set();
const outcomes = [];
const stalls = [];
let firstFailure;
let began;

/** What is wrong with an answer, or nothing. */
const kinds = [
  async function create() {
    const order = orderOf(channel, PRODUCT);
    const reply = await channel.call('orders/create', order, { idempotencyKey: order.externalOrderNo });
    const isRight =
      reply.data?.externalOrderNo === order.externalOrderNo &&
      reply.data.orderStatus === 'ACTIVE' &&
      reply.data.paymentRecords[0].paymentStatus === 'BILLED' &&
      reply.data.redeemUrl.includes(reply.data.orderNo);
    if (reply.code === '0' && isRight) latest = reply.data;
    return { kind: 'orders/create', reply, isRight };
  },
  async function query() {
    const asked = latest;
    const reply = await channel.call('orders/query', { orderNo: asked.orderNo });
    const isRight =
      reply.data?.externalOrderNo === asked.externalOrderNo &&
      reply.data.orderStatus === 'ACTIVE' &&
      reply.data.paymentRecords.length === asked.paymentRecords.length;
    return { kind: 'orders/query', reply, isRight };
  },
  async function list() {
    const reply = await channel.call('products/list', {});
    const isRight = reply.data?.items.some(({ productCode }) => productCode === PRODUCT) === true;
    return { kind: 'products/list', reply, isRight };
  },
];

async function once(work) {
  const { kind, reply, isRight } = await work();
  const failure = reply.code !== '0' ? reply.code : isRight ? undefined : 'wrong answer';
  if (failure !== undefined) firstFailure ??= `${kind}: ${failure}`;
  return { failure, ms: reply.ms };
}

function tick() {
  sampleMemory();
  const work = once(kinds[ticks % kinds.length]).then((outcome) => outcomes.push(outcome));
  keep(work);
  if (ticks % TICKS_PER_PROBE === 0) {
    const probe = { method: 'GET', path: '/healthz', headers: {}, body: undefined };
    keep(exchange(baseUrl, probe, { agent: probes }).then(({ ms }) => stalls.push(ms)));
  }
  ticks += 1;
}

/** What Linux knows about the node. Nothing elsewhere, or of one that has died. */
function told(file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return undefined;
  }
}

function sampleMemory() {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(told('status') ?? '')?.[1] ?? 0;
  peakMb = Math.max(peakMb, Number(kilobytes) / 1024);
}

/** For how long the node could have run and had no CPU, so far. The second number there, in nanoseconds. */
function withoutCpuMs() {
  const text = told('schedstat');
  return text === undefined ? undefined : Number(text.split(' ')[1]) / 1e6;
}

function keep(work) {
  const kept = work.finally(() => underWay.delete(kept));
  underWay.add(kept);
}

const commands = {
  /** Everything is compiled and connected once before it counts. */
  async begin(options) {
    ({ baseUrl, pid } = options);
    channel = await caller(baseUrl, options.channel).logIn();
    for (let round = 0; round < WARM_UP_ROUNDS; round += 1) for (const kind of kinds) await once(kind);
    if (firstFailure !== undefined) throw new Error(`the bystander failed before the attack: ${firstFailure}`);
    began = { at: performance.now(), withoutCpuMs: withoutCpuMs() };
    ticking = setInterval(tick, TICK_MS);
  },

  async end() {
    clearInterval(ticking);
    await Promise.all(underWay);
    const waitedMs = withoutCpuMs() - began.withoutCpuMs;
    const elapsedMs = performance.now() - began.at;
    const times = outcomes.map(({ ms }) => ms).sort((a, b) => a - b);
    return {
      answers: outcomes.length,
      failures: tally(outcomes.flatMap(({ failure }) => (failure === undefined ? [] : [failure]))),
      firstFailure,
      worstMs: times.at(-1) ?? 0,
      p99Ms: times[Math.min(times.length - 1, Math.floor(times.length * 0.99))] ?? 0,
      stallMs: Math.max(0, ...stalls),
      peakMb: peakMb === 0 ? undefined : peakMb,
      withoutCpu: Number.isNaN(waitedMs) ? undefined : waitedMs / elapsedMs,
    };
  },
};

process.once('disconnect', () => process.exit());
process.on('message', async ({ command, ...options }) => {
  try {
    process.send({ result: await commands[command](options) });
  } catch (error) {
    process.send({ error: error.message });
  }
});
