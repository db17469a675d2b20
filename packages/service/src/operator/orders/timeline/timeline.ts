import { formatTime, type Static } from '@perennial/wire';
import { readAlertText } from '../../../alerts/alert-wordings.js';
import type { AlertView } from '../../../alerts/alerts-sql.js';
import { createChannelRegistry } from '../../../catalog/channels/channel-registry.js';
import { listPushesOfEvents, type Push } from '../../../delivery/history/history-sql.js';
import { type ListedEvent, listEvents } from '../../../delivery/history/list-sql.js';
import type { Queryable } from '../../../platform/db/database.js';
import { periodDueAt } from '../../../subscriptions/domain/orders/calendar.js';
import { findOrderTransition, hasEnded } from '../../../subscriptions/domain/orders/order-states.js';
import { isWaitingForRetry } from '../../../subscriptions/domain/payments/payment-states.js';
import { isRefundable, sumRefunds } from '../../../subscriptions/steps/payments/begin-refund.js';
import { unsealUserMobile } from '../../../subscriptions/steps/users/login-mobile.js';
import { findPayments } from '../../../subscriptions/store/orders/orders-sql.js';
import { findRefundsOfOrders } from '../../../subscriptions/store/payments/refunds-sql.js';
import { findUser } from '../../../subscriptions/store/users/users-sql.js';
import { maskMobile, maskUserIds } from '../../masking.js';
import { formatAmount } from '../../money.js';
import type { OperatorWithClock } from '../../operator.js';
import { mayDo, type Role } from '../../people/roles.js';
import type { orderAction, timelineEntry } from '../../schemas/orders.js';
import { readAtOneMoment } from '../at-one-moment.js';
import type { OrderOfAnyChannel } from '../orders-sql.js';
import { formatPeriodSubject } from '../refunds/period-subjects.js';
import { describeRefund, type RefundView } from '../refunds/refunds.js';
import { sumWaiting } from '../refunds/waiting-refunds.js';
import { findWaitingRefunds } from '../refunds/waiting-refunds-sql.js';
import { groupByPeriod, type OrderView, type PeriodView, readOrderView, requireOrder } from '../show-order.js';
import { hashUser, userSubject } from '../users/find-user.js';
import { findNextStep, type NextStep } from './next-step.js';
import {
  type AgreementOfOrder,
  type AuditOfOrder,
  findAgreementsOfOrder,
  findAuditOf,
  findNotes,
  findPlannedPushes,
  findSurroundings,
  type OrderNote,
  type PlannedPush,
} from './timeline-sql.js';

type TimelineEntry = Static<typeof timelineEntry>;

const MAX_ENTRIES = 500;
/** Limits for each kind of entry. If an order has more entries of a kind, the latest are shown. */
const MAX_PERIODS = 200;
const MAX_EVENTS = 200;
const MAX_OF_A_KIND = 200;
const MAX_PLANNED_PUSHES = 20;

/** Returns an order with its history, its next step, and the actions that the operator may take. */
export async function showTimeline(
  operator: OperatorWithClock,
  { orderNo, role }: { readonly orderNo: string; readonly role: Role },
) {
  const { database, clock } = operator;
  return readAtOneMoment(database, async (tx) => {
    const order = await requireOrder(tx, { orderNo });
    const view = await readOrderView(tx, order, MAX_PERIODS);
    const around = await findSurroundings(tx, order.orderNo);
    const next = findNextStep(order, around, clock.now());
    const channel = await createChannelRegistry(tx, operator.vault).getById(order.channelId);
    const user = userSubject(hashUser(channel, order.channelUserId));
    const history = await readHistory(tx, order, view, user);
    const past = createPast(view, history, operator.currency).toSorted(byTime);
    const future = createFuture(next, history.plannedPushes).toSorted(byTime);
    const kept = past.slice(-MAX_ENTRIES);
    const found = await findUser(tx, order.channelId, order.channelUserId);
    const mobile = found ? unsealUserMobile(channel, found) : null;
    const refundable = await findRefundablePeriods(tx, order, view);
    const mask = <T>(data: T) => maskUserIds(data, role);
    return {
      order: mask(view),
      product:
        around.productName === null
          ? null
          : {
              productCode: order.productCode,
              productName: around.productName,
              version: around.productVersion ?? 1,
            },
      channel: { appId: order.appId, name: around.channelName },
      mobile: mobile === null ? null : maskMobile(mobile),
      timeline: mask([...kept, ...future].toReversed()),
      timelineIsCut: history.isCut || kept.length < past.length,
      next: next && { ...next, at: formatTime(next.at) },
      comingPeriods: listComingPeriods(order),
      actions: findActions(order, view, refundable, role),
      waitingRefunds: refundable.flatMap(({ cycleNo, waiting }) =>
        waiting.map(({ subject: _subject, key: _key, ...one }) => ({ cycleNo, ...one })),
      ),
    };
  });
}

/** Returns the due times of the periods that have not begun. An ended order has none. */
function listComingPeriods({ status, createdAt, cycleNo, totalCycles, ...cadence }: OrderOfAnyChannel) {
  if (hasEnded(status)) return [];
  return Array.from({ length: totalCycles - cycleNo }, (_, index) => ({
    cycleNo: cycleNo + 1 + index,
    expectPayTime: formatTime(periodDueAt(createdAt, cadence, cycleNo + 1 + index)),
  }));
}

const byTime = (a: TimelineEntry, b: TimelineEntry) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0);

type History = Awaited<ReturnType<typeof readHistory>>;

async function readHistory(tx: Queryable, { orderNo, channelId }: OrderOfAnyChannel, view: OrderView, user: string) {
  const firstCycleNo = view.payments[0]?.cycleNo ?? 1;
  const events = await listEvents(tx, channelId, { orderNo }, MAX_EVENTS, { after: undefined, offset: 0 });
  const eventNos = events.map(({ eventNo }) => eventNo);
  const pushes = await listPushesOfEvents(tx, channelId, eventNos, MAX_ENTRIES);
  const agreements = await findAgreementsOfOrder(tx, orderNo, firstCycleNo, MAX_OF_A_KIND);
  const subjects = [String(orderNo), ...agreements.map(({ agreementNo }) => agreementNo), user];
  const audit = await findAuditOf(tx, subjects, MAX_OF_A_KIND, user, 'user.change-mobile');
  const notes = await findNotes(tx, orderNo, MAX_OF_A_KIND);
  return {
    refunds: (await findRefundsOfOrders(tx, [orderNo])).map(describeRefund),
    agreements,
    events,
    pushes,
    plannedPushes: await findPlannedPushes(tx, channelId, eventNos, MAX_PLANNED_PUSHES),
    audit,
    notes,
    /** True if a limit was reached, so that older entries may be missing. */
    isCut:
      firstCycleNo > 1 ||
      events.length === MAX_EVENTS ||
      pushes.length === MAX_ENTRIES ||
      [agreements, audit, notes].some(({ length }) => length === MAX_OF_A_KIND),
  };
}

const createEntry = (
  fields: Pick<TimelineEntry, 'at' | 'kind' | 'title' | 'data'> & Partial<TimelineEntry>,
): TimelineEntry => ({
  when: 'past',
  cycleNo: null,
  status: null,
  detail: null,
  actor: null,
  amountCent: null,
  ...fields,
});

/**
 * Lists causes before their effects: an operator's request comes before its result. The sort by time keeps this
 * sequence for entries of the same second.
 */
function createPast(view: OrderView, history: History, currency: string | undefined): TimelineEntry[] {
  return [
    createEntry({
      at: view.createTime,
      kind: 'created',
      title: 'The order was created',
      amountCent: view.amountCent,
      data: null,
    }),
    ...history.audit.map(describeAudit).toReversed(),
    ...history.agreements.flatMap(describeAgreement),
    ...view.payments.flatMap(describePeriod),
    ...history.refunds.map((refund) => describeRefundEntry(refund, currency)),
    ...describeEnd(view, history.events),
    ...history.events.map(describeEvent).toReversed(),
    ...history.pushes.map(describePush).toReversed(),
    ...history.notes.map(describeNote).toReversed(),
    ...view.alerts.map(describeAlert).toReversed(),
  ];
}

function describeAgreement(data: AgreementOfOrder): TimelineEntry[] {
  const { agreementNo, agreementStatus: status, paymentChannelCode, createTime, changeTime } = data;
  const title = `Agreement ${agreementNo} with ${paymentChannelCode}`;
  const began = createEntry({ at: createTime, kind: 'agreement', status: 'BIND_SUCCESS', title, data });
  if (status !== 'CANCELED' && status !== 'REPLACED') return [began];
  const ended = `Agreement ${agreementNo} is ${status}`;
  return [began, createEntry({ at: changeTime, kind: 'agreement', status, title: ended, data })];
}

function describePeriod({ attempts, refunds: _, benefits, ...period }: PeriodView): TimelineEntry[] {
  const { cycleNo, amountCent, paymentStatus: status, expectPayTime: at } = period;
  const title = `Period ${cycleNo} was due`;
  return [
    createEntry({ at, kind: 'period', cycleNo, status, title, amountCent, data: period }),
    ...attempts.map((data) => {
      const { status, reason: detail, settledAt, startedAt: at } = data;
      const title = `Debit of period ${cycleNo}, attempt ${data.tryNo}: ${status}`;
      return createEntry({ at: settledAt ?? at, kind: 'attempt', cycleNo, status, title, detail, amountCent, data });
    }),
    ...benefits.map((data) => {
      const { issuedAt: at, status, faceValueCent: amountCent } = data;
      const title = `Benefit ${data.name} was issued`;
      return createEntry({ at, kind: 'benefit', cycleNo, status, title, amountCent, data });
    }),
    ...benefits.flatMap((data) => {
      const { claimedAt: at, codeStatus: status, claimNo: detail } = data;
      const title = `Benefit ${data.name} was claimed`;
      return at === null ? [] : [createEntry({ at, kind: 'claim', cycleNo, status, title, detail, data })];
    }),
  ];
}

function describeRefundEntry(data: RefundView, currency: string | undefined): TimelineEntry {
  const { startedAt: at, refundNo, cycleNo, status, amountCent, requestedBy: actor } = data;
  const title = `Refund ${refundNo} of ${formatAmount(amountCent, currency)}: ${status}`;
  const detail = data.reason ?? data.note;
  return createEntry({ at, kind: 'refund', cycleNo, status, title, detail, actor, amountCent, data });
}

/** Takes the time of the end from the event, because the order does not store when it was completed or failed. */
function describeEnd(view: OrderView, events: readonly ListedEvent[]): TimelineEntry[] {
  const { orderStatus: status, unsubscribeTime, unsubscribeSource, unsubscribeReason } = view;
  if (unsubscribeTime !== null) {
    const title = `The order was unsubscribed by ${unsubscribeSource}`;
    return [createEntry({ at: unsubscribeTime, kind: 'ended', status, title, detail: unsubscribeReason, data: null })];
  }
  const ending = hasEnded(status) ? events.find(({ data }) => readField(data, 'orderStatus') === status) : undefined;
  if (!ending) return [];
  return [createEntry({ at: ending.occurredAt, kind: 'ended', status, title: `The order is ${status}`, data: null })];
}

function describeEvent({ recordedMicros: _1, eventNo: _2, ...event }: ListedEvent): TimelineEntry {
  const { occurredAt: at, deliveryStatus: status, data } = event;
  const about = readField(data, 'paymentStatus') ?? readField(data, 'orderStatus');
  const title = `Event ${event.eventId} ${event.eventType}${about === undefined ? '' : `: ${about}`}`;
  return createEntry({ at, kind: 'event', cycleNo: readNumber(data, 'cycleNo'), status, title, data: event });
}

function readField(data: unknown, name: string): unknown {
  return typeof data === 'object' && data !== null ? (data as Record<string, unknown>)[name] : undefined;
}

function readNumber(data: unknown, name: string): number | null {
  const value = readField(data, name);
  return typeof value === 'number' ? value : null;
}

function describePush(push: Push): TimelineEntry {
  const { at, outcome, eventId, httpStatus, answer } = push;
  const title = `Push of event ${eventId}: ${outcome}${httpStatus === null ? '' : `, HTTP ${httpStatus}`}`;
  return createEntry({ at, kind: 'push', status: outcome, title, detail: answer, data: push });
}

function describeAudit(entry: AuditOfOrder): TimelineEntry {
  const { at, actor, action, detail } = entry;
  const [why = null] = [detail['reason'], detail['note']].filter((text) => typeof text === 'string');
  const numbers = { cycleNo: readNumber(detail, 'cycleNo'), amountCent: readNumber(detail, 'amountCent') };
  return createEntry({ at, kind: 'operator', title: action, detail: why, actor, ...numbers, data: entry });
}

function describeNote(note: OrderNote): TimelineEntry {
  return createEntry({ at: note.at, kind: 'note', title: 'Note', detail: note.text, actor: note.author, data: note });
}

function describeAlert(alert: AlertView): TimelineEntry {
  const status = alert.resolvedAt !== null ? 'RESOLVED' : alert.acknowledgedAt !== null ? 'ACKNOWLEDGED' : 'OPEN';
  const { firstSeenAt: at, kind: title, detail, acknowledgedBy: actor } = alert;
  const data = { ...alert, detailSaid: readAlertText(title, detail) };
  return createEntry({ at, kind: 'alert', status, title, detail, actor, data });
}

function createFuture(next: NextStep | null, pushes: readonly PlannedPush[]): TimelineEntry[] {
  const steps = pushes.map((data) => {
    const title = `Event ${data.eventId} is pushed${data.retryNo === 0 ? '' : ` again, retry ${data.retryNo}`}`;
    return createEntry({ at: data.at, when: 'future', kind: 'push', title, data });
  });
  if (next) {
    const { cycleNo, amountCent, what: status } = next;
    const fields = { cycleNo, status, title: describeNext(next), amountCent, data: next };
    steps.push(createEntry({ at: formatTime(next.at), when: 'future', kind: 'next', ...fields }));
  }
  return steps;
}

function describeNext({ what, cycleNo, tryNo, tries }: NextStep): string {
  const which = tryNo === null ? '' : `, retry ${tryNo} of ${tries}`;
  switch (what) {
    case 'debit':
      return `Period ${cycleNo} is debited`;
    case 'bill':
      return `Period ${cycleNo} is billed`;
    case 'retry':
      return `Period ${cycleNo} is debited again${which}`;
    case 'expire':
      return `Period ${cycleNo} fails for good: the next period is due`;
    case 'complete':
      return 'The order is completed';
    case 'wait-for-institution':
      return `The institution is queried about the debit of period ${cycleNo}${which}`;
  }
}

/** Returns the actions that the order, its agreement and its payments allow, and whether the role may do them. */
function findActions(
  order: OrderOfAnyChannel,
  view: OrderView,
  refundable: Awaited<ReturnType<typeof findRefundablePeriods>>,
  role: Role,
): Static<typeof orderAction>[] {
  const bySupport = { cycleNo: null, maxAmountCent: null, isAllowed: mayDo(role, 'support') };
  const actions: Static<typeof orderAction>[] = [];
  const end = findOrderTransition(order.status, 'unsubscribe');
  if (end && end.to !== order.status) actions.push({ ...bySupport, action: 'unsubscribe' });
  if (order.status === 'ACTIVE' && isWaitingForRetry(order.latestPaymentStatus)) {
    actions.push({ ...bySupport, action: 'retry', cycleNo: order.cycleNo });
  }
  if (view.agreement?.agreementStatus === 'BIND_SUCCESS' && order.status !== 'INITIALIZING') {
    actions.push({ ...bySupport, action: 'cancel-agreement' });
  }
  for (const { cycleNo, maxAmountCent } of refundable) {
    if (maxAmountCent > 0) {
      // Support requests the refund, and finance decides.
      actions.push({ action: 'refund', cycleNo, isAllowed: mayDo(role, ['support', 'finance']), maxAmountCent });
    }
  }
  return actions;
}

/**
 * Returns the refundable periods among those in `view`, each with its waiting refunds and the amount that can still be
 * requested.
 */
async function findRefundablePeriods(tx: Queryable, { orderNo, settlementMode }: OrderOfAnyChannel, view: OrderView) {
  if (settlementMode !== 'SVC_DEDUCT') return [];
  const refundsOf = groupByPeriod(await findRefundsOfOrders(tx, [orderNo]));
  const firstCycleNo = view.payments[0]?.cycleNo ?? 1;
  const payments = (await findPayments(tx, orderNo)).filter((one) => one.cycleNo >= firstCycleNo && isRefundable(one));
  const subjectOf = ({ cycleNo }: { readonly cycleNo: number }) => formatPeriodSubject(orderNo, cycleNo);
  const allWaiting = await findWaitingRefunds(tx, payments.map(subjectOf));
  return payments.map((payment) => {
    const { cycleNo } = payment;
    const refunds = refundsOf(cycleNo);
    const waiting = allWaiting.filter(
      ({ subject, key }) => subject === subjectOf(payment) && refunds.every((refund) => refund.key !== key),
    );
    return { cycleNo, waiting, maxAmountCent: sumRefunds({ payment, refunds }).leftCent - sumWaiting(waiting) };
  });
}
