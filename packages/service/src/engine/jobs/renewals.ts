import type { Logger } from 'pino';
import type { Channel } from '../../catalog/channels/channel.js';
import type { ChannelRegistry } from '../../catalog/channels/registry.js';
import { lockPace, type Pace, usePace } from '../../catalog/payment-channels/pace-sql.js';
import type { Gateway } from '../../gateways/gateway.js';
import type { Gateways } from '../../gateways/registry.js';
import type { Clock } from '../../platform/clock.js';
import type { Database } from '../../platform/db/database.js';
import type { BusinessCounts } from '../../platform/metrics/counts.js';
import { attemptNo } from '../../subscriptions/domain/orders/numbers.js';
import {
  DEBIT_DEADLINE_MS,
  FIRST_ASK_SECONDS,
  namedAskSeconds,
  RENEWAL_LEASE_SECONDS,
} from '../../subscriptions/domain/payments/policy.js';
import { endLeftOverOrders } from '../../subscriptions/steps/ending/end-agreements.js';
import { debitRequest, rejectWrongAmount, sendDebit } from '../../subscriptions/steps/payments/debit.js';
import type { SettleTogether } from '../../subscriptions/steps/payments/settle-together.js';
import { institutionNo } from '../../subscriptions/store/agreements/card.js';
import { type DueCursor, FROM_THE_START } from '../../subscriptions/store/orders/due-sql.js';
import { type Started, type StartedRenewal, startRenewals } from '../../subscriptions/store/orders/renew-sql.js';
import { askAgainIn } from '../../subscriptions/store/payments/attempts-sql.js';

export interface RenewalDeps {
  readonly database: Database;
  readonly channels: ChannelRegistry;
  readonly gateways: Gateways;
  readonly settle: SettleTogether;
  readonly clock: Clock;
  readonly log: Logger;
  readonly counts?: BusinessCounts;
  readonly stopping?: () => boolean;
  /** In place of the policy's, for a test that cannot wait. */
  readonly debitDeadlineMs?: number;
}

/** Debits under way at one payment channel, from one node. */
const IN_FLIGHT = 64;
/** A claim waits until so many can go together: a claim is a commit. */
const FEWEST = 16;
/** Of its lease, what a debit may have lost before it is sent; the rest is for its deadline and its settlement. */
const LATEST_SEND_MS = RENEWAL_LEASE_SECONDS * 1000 - DEBIT_DEADLINE_MS - 2_000;

/** Mode A: debits what is due at one payment channel, within its pace, until nothing is. */
export async function renewDeducted(deps: RenewalDeps, pace: Pace): Promise<number> {
  const { gateways, clock } = deps;
  const underWay = new Set<Promise<void>>();
  const channelOf = oncePerRun((channelId: number) => deps.channels.byId(channelId));
  let started = 0;
  for (let after: DueCursor | undefined = FROM_THE_START; after && !deps.stopping?.(); ) {
    while (underWay.size > IN_FLIGHT - FEWEST) await Promise.race(underWay);
    const gateway = await gateways.of(pace.code);
    const claimedAt = clock.now();
    const claim = await claimDue(deps, pace, after, IN_FLIGHT - underWay.size);
    for (const renewal of claim.renewals) {
      const debit: Promise<void> = renew({ ...deps, channelOf }, gateway, renewal, claimedAt).finally(() =>
        underWay.delete(debit),
      );
      underWay.add(debit);
    }
    started += claim.renewals.length;
    for (const agreementId of claim.notBound) await endLeftOver(deps, agreementId);
    after = claim.last;
  }
  await Promise.all(underWay);
  return started;
}

async function claimDue({ database }: RenewalDeps, pace: Pace, after: DueCursor, room: number): Promise<Started> {
  const { code, debitsPerSecond } = pace;
  const due = { kind: 'everything', after } as const;
  if (debitsPerSecond === null) return startRenewals(database, code, due, room, RENEWAL_LEASE_SECONDS);
  return database.transaction(async (tx) => {
    const allowed = Math.min(room, await lockPace(tx, code, debitsPerSecond));
    const claim = await startRenewals(tx, code, due, allowed, RENEWAL_LEASE_SECONDS);
    if (claim.renewals.length > 0) await usePace(tx, code, debitsPerSecond, claim.renewals.length);
    return claim;
  });
}

/** Nothing is debited for what still runs on an agreement that has ended. What is wrong with one holds up no other. */
async function endLeftOver({ database, clock, log }: RenewalDeps, agreementId: number): Promise<void> {
  try {
    const ended = await database.transaction((tx) => endLeftOverOrders(tx, agreementId, clock.now()));
    const orders = ended.map(({ orderNo }) => orderNo);
    if (orders.length > 0) log.warn({ agreementId, orders }, 'orders ran on an agreement that had ended: unsubscribed');
  } catch (err) {
    log.warn({ err, agreementId }, 'orders on an agreement that has ended are left for the next turn');
  }
}

/** A thousand renewals of one channel read it once. */
function oncePerRun<Key, Value>(load: (key: Key) => Promise<Value>): (key: Key) => Promise<Value> {
  const loaded = new Map<Key, Promise<Value>>();
  return (key) => {
    const value = loaded.get(key) ?? load(key);
    loaded.set(key, value);
    return value;
  };
}

/** Whatever goes wrong leaves the attempt open, and open attempts are asked about. */
async function renew(
  deps: RenewalDeps & { readonly channelOf: (channelId: number) => Promise<Channel> },
  gateway: Gateway,
  renewal: StartedRenewal,
  claimedAt: number,
): Promise<void> {
  const { database, settle, clock, log } = deps;
  try {
    const channel = await deps.channelOf(renewal.channelId);
    const request = debitRequest(renewal, channel, institutionNo(channel, renewal));
    // So late that another node may be about to ask: then it is that node's.
    if (clock.now() - claimedAt > LATEST_SEND_MS) return;
    const outcome = await rejectWrongAmount(database, renewal, await sendDebit(gateway, request, deps.debitDeadlineMs));
    if (outcome.kind === 'success' || outcome.kind === 'declined') {
      await settle({ attempt: renewal, outcome });
      return;
    }
    deps.counts?.countDebit(renewal.paymentChannelCode, outcome.kind);
    await askAgainIn(database, renewal, namedAskSeconds(outcome, clock.now()) || FIRST_ASK_SECONDS);
  } catch (err) {
    const number = attemptNo(renewal.orderNo, renewal.cycleNo, renewal.tryNo);
    log.warn({ err, attemptNo: number }, 'a renewal was started and is left to be asked about');
  }
}
