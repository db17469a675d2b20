import type { Logger } from 'pino';
import type { Channel } from '../../catalog/channels/channel.js';
import type { ChannelRegistry } from '../../catalog/channels/channel-registry.js';
import { lockPace, type Pace, usePace } from '../../catalog/payment-channels/pace-sql.js';
import type { Gateway } from '../../gateways/gateway.js';
import type { Gateways } from '../../gateways/gateway-registry.js';
import type { Clock } from '../../platform/clock.js';
import type { Database } from '../../platform/db/database.js';
import type { BusinessCounts } from '../../platform/metrics/counts.js';
import { formatAttemptNo } from '../../subscriptions/domain/orders/order-numbers.js';
import {
  askSecondsNamedBy,
  DEBIT_DEADLINE_MS,
  FIRST_ASK_SECONDS,
  RENEWAL_LEASE_SECONDS,
} from '../../subscriptions/domain/payments/debit-policy.js';
import { endLeftOverOrders } from '../../subscriptions/steps/ending/end-agreements.js';
import type { SettleInBatch } from '../../subscriptions/steps/payments/batch-settler.js';
import { createDebitRequest, rejectWrongAmount, sendDebit } from '../../subscriptions/steps/payments/send-debit.js';
import { unsealInstitutionNo } from '../../subscriptions/store/agreements/card.js';
import { type DueCursor, START_OF_DUE_ORDERS } from '../../subscriptions/store/orders/due-orders-sql.js';
import {
  type StartedBatch,
  type StartedRenewal,
  startRenewals,
} from '../../subscriptions/store/orders/start-renewals-sql.js';
import { scheduleDebitQuestion } from '../../subscriptions/store/payments/attempts-sql.js';

export interface RenewalDeps {
  readonly database: Database;
  readonly channels: ChannelRegistry;
  readonly gateways: Gateways;
  readonly settle: SettleInBatch;
  readonly clock: Clock;
  readonly log: Logger;
  readonly counts?: BusinessCounts;
  readonly stopping?: () => boolean;
  /** In place of the policy's, for a test that cannot wait. */
  readonly debitDeadlineMs?: number;
}

/** Debits that one node has running at one payment channel. */
const MAX_IN_FLIGHT = 64;
/** A statement waits until it may take this many: each is a commit. */
const MIN_STARTED_TOGETHER = 16;
/** How long after its start a debit may still be sent: the rest of its lease is for its deadline and its settlement. */
const MAX_MS_BEFORE_SENDING = RENEWAL_LEASE_SECONDS * 1000 - DEBIT_DEADLINE_MS - 2_000;

/** Mode A: debits all due orders of one payment channel, no faster than its pace. */
export async function renewDueOrders(deps: RenewalDeps, pace: Pace): Promise<number> {
  const { gateways, clock } = deps;
  const underWay = new Set<Promise<void>>();
  const channelOf = createRunCache((channelId: number) => deps.channels.getById(channelId));
  let started = 0;
  for (let after: DueCursor | undefined = START_OF_DUE_ORDERS; after && !deps.stopping?.(); ) {
    while (underWay.size > MAX_IN_FLIGHT - MIN_STARTED_TOGETHER) await Promise.race(underWay);
    const gateway = await gateways.of(pace.code);
    const leasedAt = clock.now();
    const batch = await startDueRenewals(deps, pace, after, MAX_IN_FLIGHT - underWay.size);
    for (const renewal of batch.renewals) {
      const debit: Promise<void> = debitRenewal({ ...deps, channelOf }, gateway, renewal, leasedAt).finally(() =>
        underWay.delete(debit),
      );
      underWay.add(debit);
    }
    started += batch.renewals.length;
    for (const agreementId of batch.notBound) await endOrdersLeftOver(deps, agreementId);
    after = batch.last;
  }
  await Promise.all(underWay);
  return started;
}

async function startDueRenewals(
  { database }: RenewalDeps,
  pace: Pace,
  after: DueCursor,
  room: number,
): Promise<StartedBatch> {
  const { code, debitsPerSecond } = pace;
  const due = { kind: 'everything', after } as const;
  if (debitsPerSecond === null) return startRenewals(database, code, due, room, RENEWAL_LEASE_SECONDS);
  return database.transaction(async (tx) => {
    const allowed = Math.min(room, await lockPace(tx, code, debitsPerSecond));
    const batch = await startRenewals(tx, code, due, allowed, RENEWAL_LEASE_SECONDS);
    if (batch.renewals.length > 0) await usePace(tx, code, debitsPerSecond, batch.renewals.length);
    return batch;
  });
}

/** Ends orders on an agreement that has ended, instead of debiting them. An error delays no other order. */
async function endOrdersLeftOver({ database, clock, log }: RenewalDeps, agreementId: number): Promise<void> {
  try {
    const ended = await database.transaction((tx) => endLeftOverOrders(tx, agreementId, clock.now()));
    const orders = ended.map(({ orderNo }) => orderNo);
    if (orders.length > 0) log.warn({ agreementId, orders }, 'orders ran on an agreement that had ended: unsubscribed');
  } catch (err) {
    log.warn({ err, agreementId }, 'orders on an agreement that has ended are left for the next turn');
  }
}

/** Caches loaded values for one run: a thousand renewals of one channel read the channel once. */
function createRunCache<Key, Value>(load: (key: Key) => Promise<Value>): (key: Key) => Promise<Value> {
  const loaded = new Map<Key, Promise<Value>>();
  return (key) => {
    const value = loaded.get(key) ?? load(key);
    loaded.set(key, value);
    return value;
  };
}

/** Any error leaves the attempt open, and a job asks about open attempts. */
async function debitRenewal(
  deps: RenewalDeps & { readonly channelOf: (channelId: number) => Promise<Channel> },
  gateway: Gateway,
  renewal: StartedRenewal,
  leasedAt: number,
): Promise<void> {
  const { database, settle, clock, log } = deps;
  try {
    const channel = await deps.channelOf(renewal.channelId);
    const request = createDebitRequest(renewal, channel, unsealInstitutionNo(channel, renewal));
    // Too late: another node may already be asking about it.
    if (clock.now() - leasedAt > MAX_MS_BEFORE_SENDING) return;
    const outcome = await rejectWrongAmount(database, renewal, await sendDebit(gateway, request, deps.debitDeadlineMs));
    if (outcome.kind === 'success' || outcome.kind === 'declined') {
      await settle({ attempt: renewal, outcome });
      return;
    }
    deps.counts?.countDebit(renewal.paymentChannelCode, outcome.kind);
    await scheduleDebitQuestion(database, renewal, askSecondsNamedBy(outcome, clock.now()) || FIRST_ASK_SECONDS);
  } catch (err) {
    const number = formatAttemptNo(renewal.orderNo, renewal.cycleNo, renewal.tryNo);
    log.warn({ err, attemptNo: number }, 'a renewal was started and is left to be asked about');
  }
}
