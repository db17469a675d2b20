import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { call, isFinal, isMistake, isRefusal, PATIENCE_MS } from './call.mjs';
import { startDue } from './due.mjs';
import { boundCreate, claim, collectedCreate, deductedCreate, refund, unsubscribe } from './requests.mjs';

/** The time from one request of a caller to its next, unless the response takes longer. */
const TURN_MS = 650;
/** The timeout of half of the callers, which thus also receive late responses. */
const LONG_PATIENCE_MS = 60_000;
/** The first retry delay that the interface recommends. */
const RETRY_MS = 1_000;
/** The time after the last new write within which writes can still be retried. */
const DRAIN_MS = 120_000;

/**
 * The callers choose their operations from this list at random, so an operation's share is its number of entries out of
 * fifteen.
 */
export const MIX = [
  ...Array.from({ length: 4 }, () => 'collected'),
  ...Array.from({ length: 4 }, () => 'deducted'),
  'unsubscribe',
  'refund',
  'refund',
  'claim',
  'claim',
  'query',
  'query',
];

/**
 * The smallest number of active orders. At this number no order is unsubscribed any more, so that enough orders can
 * fall due.
 */
const KEPT_ORDERS = 20;
/** A period is refunded in two parts: first partially, then completely. */
const PARTS_CENT = [40, 60];

/** Removes and returns a random element. */
const take = (list) => list.splice(randomInt(list.length), 1)[0];

/**
 * Starts the callers. Each caller sends to one node and retries an unanswered request at the next node. Also makes
 * orders due while the callers run.
 */
export async function startLoad(stand) {
  const { nodes, channel, callers, mix = MIX } = stand;
  const record = { writes: [], findings: [], seen: new Map(), acknowledgedAt: [], tries: 0, longestWaitMs: 0 };
  /** The orders acknowledged as ACTIVE. `ended` has orders whose end was acknowledged. */
  const active = [];
  const ended = [];
  /** Periods that can still be refunded. `claimable` has benefits that can still be claimed. */
  const refundable = [];
  const claimable = [];
  const due = await startDue(stand);
  const begun = performance.now();
  let stopping = false;
  let stoppedAt;

  async function attempt(node, request, caller) {
    const patienceMs = Math.floor(caller / nodes.length) % 2 === 0 ? PATIENCE_MS : LONG_PATIENCE_MS;
    const answer = await call(node, channel, request, patienceMs);
    record.tries += 1;
    if (answer.code !== '0') record.seen.set(answer.code, (record.seen.get(answer.code) ?? 0) + 1);
    return answer;
  }

  /** Retries a write with the same idempotency key, each time at the next node, until there is a final response. */
  async function settle(request, caller) {
    const write = { ...request, answer: undefined, node: undefined };
    record.writes.push(write);
    const sentAt = performance.now();
    for (let turn = caller; !stopping || performance.now() - stoppedAt < DRAIN_MS; turn += 1) {
      stand.interrupted.throwIfAborted();
      const node = nodes[turn % nodes.length];
      const answer = await attempt(node, write, caller);
      if (isFinal(answer)) {
        const now = performance.now();
        record.acknowledgedAt.push(now);
        record.longestWaitMs = Math.max(record.longestWaitMs, now - sentAt);
        Object.assign(write, { answer, node });
        return answer;
      }
      if (isMistake(answer)) {
        record.findings.push({
          kind: 'wrong',
          text: `${request.kind} ${request.about} was refused with ${answer.code}`,
        });
        return undefined;
      }
      await delay(RETRY_MS);
    }
    record.findings.push({ kind: 'lost', text: `${request.kind} ${request.about} was never answered` });
    return undefined;
  }

  /** Checks that a node knows what was acknowledged, and that ended orders stay ended. */
  async function query(caller) {
    const isEnded = ended.length > 0 && randomInt(4) === 0;
    const list = isEnded ? ended : active;
    const orderNo = list[randomInt(list.length)];
    const request = { endpoint: 'orders/query', body: { orderNo } };
    const { code, data } = await attempt(nodes[caller % nodes.length], request, caller);
    if (isRefusal(code)) record.findings.push({ kind: 'lost', text: `order ${orderNo} was not found (${code})` });
    if (isEnded && code === '0' && data.orderStatus !== 'UNSUBSCRIBED') {
      record.findings.push({ kind: 'lost', text: `order ${orderNo} is ${data.orderStatus} after its unsubscribe` });
    }
  }

  async function create(request, caller) {
    const answer = await settle(request, caller);
    if (answer?.data?.orderStatus !== 'ACTIVE') return;
    const { orderNo, redeemUrl, paymentRecords } = answer.data;
    active.push(orderNo);
    claimable.push({ orderNo, redeemUrl });
    const [{ paymentOrderNo, paymentStatus }] = paymentRecords;
    if (paymentStatus === 'SUCCESS') refundable.push({ paymentOrderNo, parts: [...PARTS_CENT] });
  }

  /** Binds a card, then creates an order with it. */
  async function bind(caller) {
    const { sendCode, confirm, order } = boundCreate(channel);
    const sent = await settle(sendCode, caller);
    if (sent?.data?.smsStatus !== 'SEND_SUCCESS') return;
    const { bindOrderNo } = sent.data;
    const confirmed = await settle(confirm(bindOrderNo), caller);
    if (confirmed?.data?.agreementStatus === 'BIND_SUCCESS') await create(order(bindOrderNo), caller);
  }

  async function refundNext(caller) {
    const { paymentOrderNo, parts } = take(refundable);
    const [amountCent, ...rest] = parts;
    const answer = await settle(refund(paymentOrderNo, amountCent), caller);
    if (answer?.code === '0' && rest.length > 0) refundable.push({ paymentOrderNo, parts: rest });
  }

  async function unsubscribeNext(caller) {
    const orderNo = take(active);
    const answer = await settle(unsubscribe(orderNo), caller);
    if (answer?.code === '0') ended.push(orderNo);
  }

  async function once(what, caller) {
    if (what === 'query' && active.length > 0) return query(caller);
    if (what === 'unsubscribe' && active.length > KEPT_ORDERS) return unsubscribeNext(caller);
    if (what === 'refund' && refundable.length > 0) return refundNext(caller);
    if (what === 'claim' && claimable.length > 0) return void (await settle(claim(take(claimable)), caller));
    if (what === 'bound') return bind(caller);
    return create(what === 'deducted' ? deductedCreate(channel) : collectedCreate(channel), caller);
  }

  const running = Array.from({ length: callers }, async (_, caller) => {
    await delay((TURN_MS * caller) / callers);
    while (!stopping) {
      const next = delay(TURN_MS);
      await once(mix[randomInt(mix.length)], caller);
      await next;
    }
  });
  const all = Promise.all(running);
  // stop() awaits this promise. A rejection before that must not be unhandled.
  all.catch(() => undefined);

  return {
    /** Returns true if callers have an answer to a write of this kind. */
    hasDone: (wanted) => record.writes.some(({ kind, answer }) => kind === wanted && answer !== undefined),
    /** Ends the load. Resolves with the record as soon as every write has its response. */
    async stop() {
      stopping = true;
      stoppedAt = performance.now();
      await all;
      await due.stop();
      const moments = record.acknowledgedAt.filter((at) => at < stoppedAt);
      return { ...record, longestGapMs: longestGap([begun, ...moments, stoppedAt]) };
    },
  };
}

/** Returns the longest interval in which no write was acknowledged. */
function longestGap(moments) {
  const sorted = moments.toSorted((a, b) => a - b);
  return sorted.reduce((longest, at, index) => Math.max(longest, index === 0 ? 0 : at - sorted[index - 1]), 0);
}
