import type { Channel } from '../../catalog/channels/channel.js';
import { lockPace, type Pace, usePace } from '../../catalog/payment-channels/pace-sql.js';
import type { DebitOutcome, Gateway } from '../../gateways/gateway.js';
import type { Clock } from '../../platform/clock.js';
import { formatAttemptNo } from '../../subscriptions/domain/orders/order-numbers.js';
import {
  askSecondsNamedBy,
  DEBIT_DEADLINE_MS,
  FIRST_ASK_SECONDS,
  RENEWAL_LEASE_SECONDS,
} from '../../subscriptions/domain/payments/debit-policy.js';
import { endLeftOverOrders } from '../../subscriptions/steps/ending/end-agreements.js';
import { createDebitRequest, rejectWrongAmount, sendDebit } from '../../subscriptions/steps/payments/send-debit.js';
import { unsealInstitutionNo } from '../../subscriptions/store/agreements/card.js';
import { type DueCursor, START_OF_DUE_ORDERS } from '../../subscriptions/store/orders/due-orders-sql.js';
import {
  type StartedBatch,
  type StartedRenewal,
  startRenewals,
} from '../../subscriptions/store/orders/start-renewals-sql.js';
import { scheduleDebitQuestion } from '../../subscriptions/store/payments/attempts-sql.js';
import type { JobDeps } from '../job-deps.js';

export type RenewalDeps = Pick<
  JobDeps,
  'database' | 'channels' | 'gateways' | 'settle' | 'clock' | 'log' | 'counts' | 'stopping' | 'debitDeadlineMs'
>;

/** The maximum number of renewal debits in flight from one node to one payment channel. */
const MAX_IN_FLIGHT = 64;
/**
 * The maximum number of debits that are started before a slot is free, so that a free slot is used at once. Applies
 * only while the institution answers quickly: a debit that has waited too long must not be sent, and the institution is
 * asked about it instead.
 */
const MAX_AHEAD = 64;
const SOON_MS = 1_000;
/**
 * The maximum number of debits of a payment channel that are started and not settled. Answered debits wait for the
 * database.
 */
const MAX_UNSETTLED = 256;
/** If fewer debits than this can be started now, waits a short time for more, because each statement is a commit. */
const MIN_STARTED_TOGETHER = 32;
const MAX_WAIT_FOR_MORE_MS = 20;
/** The time after which a run reads its channels again, in case a data key is being replaced. */
const MAX_CACHED_MS = 300_000;
/** A debit must be sent within this time after its start. The rest of its lease is for the call and the settlement. */
const MAX_MS_BEFORE_SENDING = RENEWAL_LEASE_SECONDS * 1000 - DEBIT_DEADLINE_MS - 2_000;

/** Mode A: debits the due orders of one payment channel, until none is left or its rate allows no more for now. */
export async function renewDueOrders(deps: RenewalDeps, pace: Pace): Promise<number> {
  const { gateways, clock } = deps;
  const channelOf = createRunCache((channelId: number) => deps.channels.getById(channelId));
  const inFlight = createInFlightDebits(clock);
  const debitDeps: DebitDeps = { ...deps, channelOf, inFlight };
  let started = 0;
  for (let after: DueCursor | undefined = START_OF_DUE_ORDERS; after && !deps.stopping?.(); ) {
    await inFlight.untilRoom();
    const gateway = await gateways.of(pace.code);
    const leasedAt = clock.now();
    const batch = await startDueRenewals(deps, pace, after, inFlight.room());
    for (const renewal of batch.renewals) void debitRenewal(debitDeps, gateway, renewal, leasedAt);
    started += batch.renewals.length;
    for (const agreementId of batch.notBound) await endOrdersLeftOver(deps, agreementId);
    after = batch.last;
  }
  await inFlight.untilNone();
  return started;
}

/** Counts the debits of a run that wait for a slot, are at the institution, or are not settled yet. */
function createInFlightDebits(clock: Clock) {
  let atInstitution = 0;
  let unsettled = 0;
  let answersSoon = false;
  const ahead: (() => void)[] = [];
  let isMet: () => boolean = () => true;
  let wake: () => void = () => undefined;
  const room = () => {
    const places = answersSoon ? MAX_IN_FLIGHT + MAX_AHEAD : MAX_IN_FLIGHT;
    return Math.min(places - atInstitution - ahead.length, MAX_UNSETTLED - unsettled);
  };
  const wakeIfMet = () => {
    if (isMet()) wake();
  };
  const until = (condition: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      isMet = condition;
      wake = resolve;
      wakeIfMet();
    });
  return {
    begin(): void {
      unsettled += 1;
    },
    /** Makes a call when a slot is free. */
    async call<Answer>(make: () => Promise<Answer>): Promise<Answer> {
      if (atInstitution < MAX_IN_FLIGHT) atInstitution += 1;
      else await new Promise<void>((resolve) => ahead.push(resolve));
      const began = clock.now();
      try {
        return await make();
      } finally {
        answersSoon = clock.now() - began < SOON_MS;
        const next = ahead.shift();
        if (next) next();
        else atInstitution -= 1;
        wakeIfMet();
      }
    },
    settled(): void {
      unsettled -= 1;
      wakeIfMet();
    },
    /** Returns how many more debits can be started now. */
    room,
    async untilRoom(): Promise<void> {
      let enough = MIN_STARTED_TOGETHER;
      const timer = setTimeout(() => {
        enough = 1;
        wakeIfMet();
      }, MAX_WAIT_FOR_MORE_MS);
      await until(() => room() >= enough);
      clearTimeout(timer);
    },
    untilNone: (): Promise<void> => until(() => unsettled === 0),
  };
}

type InFlightDebits = ReturnType<typeof createInFlightDebits>;

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

/** Ends the orders of an ended agreement instead of debiting them. Only logs errors, so that other orders continue. */
async function endOrdersLeftOver({ database, clock, log }: RenewalDeps, agreementId: number): Promise<void> {
  try {
    const ended = await database.transaction((tx) => endLeftOverOrders(tx, agreementId, clock.now()));
    const orders = ended.map(({ orderNo }) => orderNo);
    if (orders.length > 0) log.warn({ agreementId, orders }, 'unsubscribed orders whose agreement had ended');
  } catch (err) {
    log.warn({ err, agreementId }, 'orders whose agreement has ended could not be unsubscribed; will be retried');
  }
}

/** Caches loaded values for one run: a thousand renewals of one channel read the channel once. */
function createRunCache<Key, Value>(load: (key: Key) => Promise<Value>): (key: Key) => Promise<Value> {
  let loaded = new Map<Key, Promise<Value>>();
  let until = performance.now() + MAX_CACHED_MS;
  return (key) => {
    if (performance.now() > until) {
      loaded = new Map();
      until = performance.now() + MAX_CACHED_MS;
    }
    const value = loaded.get(key) ?? load(key);
    loaded.set(key, value);
    return value;
  };
}

interface DebitDeps extends RenewalDeps {
  readonly channelOf: (channelId: number) => Promise<Channel>;
  readonly inFlight: InFlightDebits;
}

/** Sends and settles a debit. After any error the attempt stays open, and the recovery job queries the institution. */
async function debitRenewal(
  deps: DebitDeps,
  gateway: Gateway,
  renewal: StartedRenewal,
  leasedAt: number,
): Promise<void> {
  const { inFlight, log } = deps;
  inFlight.begin();
  try {
    const answer = await inFlight.call(() => sendRenewal(deps, gateway, renewal, leasedAt));
    if (answer) await settleRenewal(deps, renewal, answer);
  } catch (err) {
    const number = formatAttemptNo(renewal.orderNo, renewal.cycleNo, renewal.tryNo);
    log.warn({ err, attemptNo: number }, 'a renewal has no outcome yet; the institution will be queried');
  } finally {
    inFlight.settled();
  }
}

/**
 * Sends a debit. Returns undefined if it is too late: during the call the lease might end, and another node might ask
 * the institution about the debit.
 */
async function sendRenewal(
  { channelOf, clock, debitDeadlineMs }: DebitDeps,
  gateway: Gateway,
  renewal: StartedRenewal,
  leasedAt: number,
): Promise<DebitOutcome | undefined> {
  const channel = await channelOf(renewal.channelId);
  const request = createDebitRequest(renewal, channel, unsealInstitutionNo(channel, renewal));
  if (clock.now() - leasedAt > MAX_MS_BEFORE_SENDING) return undefined;
  return sendDebit(gateway, request, debitDeadlineMs);
}

async function settleRenewal(deps: DebitDeps, renewal: StartedRenewal, answer: DebitOutcome): Promise<void> {
  const { database, settle, clock } = deps;
  const outcome = await rejectWrongAmount(database, renewal, answer);
  if (outcome.kind === 'success' || outcome.kind === 'declined') {
    await settle({ attempt: renewal, outcome });
    return;
  }
  deps.counts?.countDebit(renewal.paymentChannelCode, outcome.kind);
  await scheduleDebitQuestion(database, renewal, askSecondsNamedBy(outcome, clock.now()) || FIRST_ASK_SECONDS);
}
