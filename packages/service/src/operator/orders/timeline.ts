import { formatTime } from '@perennial/wire';
import { readAlertText } from '../../alerts/alert-wordings.js';
import type { AlertView } from '../../alerts/alerts-sql.js';
import { listPushesOfEvents, type Push } from '../../delivery/history/history-sql.js';
import { type ListedEvent, listEvents } from '../../delivery/history/list-sql.js';
import type { Queryable } from '../../platform/db/database.js';
import { findOrderTransition, hasEnded } from '../../subscriptions/domain/orders/order-states.js';
import { isWaitingForRetry } from '../../subscriptions/domain/payments/payment-states.js';
import { isRefundable, sumRefunds } from '../../subscriptions/steps/payments/begin-refund.js';
import { findPayments } from '../../subscriptions/store/orders/orders-sql.js';
import { findRefundsOfOrder } from '../../subscriptions/store/payments/refunds-sql.js';
import { maskMobile, maskUserIds } from '../masking.js';
import { formatAmount } from '../money.js';
import type { OperatorWithClock } from '../operator.js';
import { mayDo, type Role } from '../people/roles.js';
import { readAtOneMoment } from './at-one-moment.js';
import { findNextStep, type NextStep } from './next-step.js';
import type { OrderOfAnyChannel } from './orders-sql.js';
import { formatPeriodSubject } from './period-subjects.js';
import { describeRefund, type RefundView } from './refunds.js';
import { groupByPeriod, type OrderView, type PeriodView, readOrderView, requireOrder } from './show-order.js';
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
import { findMobileOf } from './unmask.js';
import { sumWaiting } from './waiting-refunds.js';
import { findWaitingRefunds, type WaitingRefund } from './waiting-refunds-sql.js';

export type TimelineKind =
  | 'created'
  | 'period'
  | 'attempt'
  | 'refund'
  | 'claim'
  | 'benefit'
  | 'event'
  | 'push'
  | 'agreement'
  | 'ended'
  | 'operator'
  | 'note'
  | 'alert'
  | 'next';

/** One thing that happened to an order, or will. */
export interface TimelineEntry {
  readonly at: string;
  readonly when: 'past' | 'future';
  readonly kind: TimelineKind;
  readonly cycleNo: number | null;
  readonly status: string | null;
  readonly title: string;
  readonly detail: string | null;
  readonly actor: string | null;
  readonly amountCent: number | null;
  /** The record behind it. */
  readonly data: unknown;
}

export interface OrderAction {
  readonly action: 'unsubscribe' | 'retry' | 'refund' | 'cancel-agreement';
  readonly cycleNo: number | null;
  /** Whether the role of whoever asks may do it. */
  readonly isAllowed: boolean;
  /** Of a refund, at most. */
  readonly maxAmountCent: number | null;
}

/** A refund of a period that was asked for and is not made yet. */
export interface WaitingRefundOfPeriod extends Omit<WaitingRefund, 'subject' | 'key'> {
  readonly cycleNo: number;
}

export interface OrderWithTimeline {
  readonly order: OrderView;
  readonly product: { readonly productCode: string; readonly productName: string } | null;
  readonly channel: { readonly appId: string; readonly name: string };
  readonly mobile: string | null;
  /** What is to come, and then what was, the latest first. */
  readonly timeline: readonly TimelineEntry[];
  /** Older entries are left out. */
  readonly timelineIsCut: boolean;
  readonly next: (Omit<NextStep, 'at'> & { readonly at: string }) | null;
  readonly actions: readonly OrderAction[];
  readonly waitingRefunds: readonly WaitingRefundOfPeriod[];
}

const MAX_ENTRIES = 500;
/** Of an order with very many, the latest of each kind. */
const MAX_PERIODS = 200;
const MAX_EVENTS = 200;
const MAX_OF_A_KIND = 200;
const MAX_PLANNED_PUSHES = 20;

/** An order with everything that happened to it, what comes next, and what the person who asks may do about it. */
export async function showTimeline(
  operator: OperatorWithClock,
  { orderNo, role }: { readonly orderNo: string; readonly role: Role },
): Promise<OrderWithTimeline> {
  const { database, clock } = operator;
  return readAtOneMoment(database, async (tx) => {
    const order = await requireOrder(tx, { orderNo });
    const view = await readOrderView(tx, order, MAX_PERIODS);
    const around = await findSurroundings(tx, order.orderNo);
    const next = findNextStep(order, around, clock.now());
    const history = await readHistory(tx, order, view);
    const past = createPast(view, history, operator.currency).toSorted((a, b) =>
      a.at < b.at ? -1 : a.at > b.at ? 1 : 0,
    );
    const future = createFuture(next, history.plannedPushes);
    const kept = past.slice(-MAX_ENTRIES);
    const mobile = await findMobileOf(operator, tx, order);
    const refundable = await findRefundablePeriods(tx, order, view);
    const mask = <T>(data: T) => maskUserIds(data, role);
    return {
      order: mask(view),
      product: around.productName === null ? null : { productCode: order.productCode, productName: around.productName },
      channel: { appId: order.appId, name: around.channelName },
      mobile: mobile === null ? null : maskMobile(mobile),
      timeline: mask([...kept, ...future].toReversed()),
      timelineIsCut: history.isCut || kept.length < past.length,
      next: next && { ...next, at: formatTime(next.at) },
      actions: findActions(order, view, refundable, role),
      waitingRefunds: refundable.flatMap(({ cycleNo, waiting }) =>
        waiting.map(({ subject: _subject, key: _key, ...one }) => ({ cycleNo, ...one })),
      ),
    };
  });
}

interface History {
  readonly refunds: readonly RefundView[];
  readonly agreements: readonly AgreementOfOrder[];
  readonly events: readonly ListedEvent[];
  readonly pushes: readonly Push[];
  readonly plannedPushes: readonly PlannedPush[];
  readonly audit: readonly AuditOfOrder[];
  readonly notes: readonly OrderNote[];
  /** There is more than was read. */
  readonly isCut: boolean;
}

async function readHistory(tx: Queryable, order: OrderOfAnyChannel, view: OrderView): Promise<History> {
  const { orderNo, channelId } = order;
  const firstCycleNo = view.payments[0]?.cycleNo ?? 1;
  const events = await listEvents(tx, channelId, { orderNo }, MAX_EVENTS, { after: undefined, offset: 0 });
  const eventNos = events.map(({ eventNo }) => eventNo);
  const pushes = await listPushesOfEvents(tx, channelId, eventNos, MAX_ENTRIES);
  const agreements = await findAgreementsOfOrder(tx, orderNo, firstCycleNo, MAX_OF_A_KIND);
  const subjects = [String(orderNo), ...agreements.map(({ agreementNo }) => agreementNo)];
  const audit = await findAuditOf(tx, subjects, MAX_OF_A_KIND);
  const notes = await findNotes(tx, orderNo, MAX_OF_A_KIND);
  return {
    refunds: (await findRefundsOfOrder(tx, orderNo)).map(describeRefund),
    agreements,
    events,
    pushes,
    plannedPushes: await findPlannedPushes(tx, channelId, eventNos, MAX_PLANNED_PUSHES),
    audit,
    notes,
    isCut:
      firstCycleNo > 1 ||
      events.length === MAX_EVENTS ||
      pushes.length === MAX_ENTRIES ||
      [agreements, audit, notes].some(({ length }) => length === MAX_OF_A_KIND),
  };
}

type EntryFields = Pick<TimelineEntry, 'at' | 'kind' | 'title' | 'data'> & Partial<TimelineEntry>;

const createEntry = (fields: EntryFields): TimelineEntry => ({
  when: 'past',
  cycleNo: null,
  status: null,
  detail: null,
  actor: null,
  amountCent: null,
  ...fields,
});

/** In the order of cause and effect, which is what tells entries of the same second apart. */
function createPast(view: OrderView, history: History, currency: string | undefined): TimelineEntry[] {
  return [
    createEntry({
      at: view.createTime,
      kind: 'created',
      title: 'The order was created',
      amountCent: view.amountCent,
      data: null,
    }),
    ...history.agreements.flatMap(describeAgreement),
    ...view.payments.flatMap(describePeriod),
    ...history.refunds.map((refund) => describeRefundEntry(refund, currency)),
    ...describeEnd(view, history.events),
    ...history.events.map(describeEvent).toReversed(),
    ...history.pushes.map(describePush).toReversed(),
    ...history.audit.map(describeAudit).toReversed(),
    ...history.notes.map(describeNote).toReversed(),
    ...view.alerts.map(describeAlert).toReversed(),
  ];
}

function describeAgreement(agreement: AgreementOfOrder): TimelineEntry[] {
  const { agreementNo, agreementStatus: status, paymentChannelCode, createTime, changeTime } = agreement;
  const began = createEntry({
    at: createTime,
    kind: 'agreement',
    status: 'BIND_SUCCESS',
    title: `Agreement ${agreementNo} with ${paymentChannelCode}`,
    data: agreement,
  });
  if (status !== 'CANCELED' && status !== 'REPLACED') return [began];
  const ended = { at: changeTime, status, title: `Agreement ${agreementNo} is ${status}` };
  return [began, createEntry({ ...ended, kind: 'agreement', data: agreement })];
}

function describePeriod({ attempts, refunds: _, benefits, ...period }: PeriodView): TimelineEntry[] {
  const { cycleNo, amountCent, paymentStatus: status } = period;
  return [
    createEntry({
      at: period.expectPayTime,
      kind: 'period',
      cycleNo,
      status,
      title: `Period ${cycleNo} was due`,
      amountCent,
      data: period,
    }),
    ...attempts.map((attempt) =>
      createEntry({
        at: attempt.settledAt ?? attempt.startedAt,
        kind: 'attempt',
        cycleNo,
        status: attempt.status,
        title: `Debit of period ${cycleNo}, try ${attempt.tryNo}: ${attempt.status}`,
        detail: attempt.reason,
        amountCent,
        data: attempt,
      }),
    ),
    ...benefits.map((benefit) =>
      createEntry({
        at: benefit.issuedAt,
        kind: 'benefit',
        cycleNo,
        status: benefit.status,
        title: `Benefit ${benefit.name} was issued`,
        amountCent: benefit.faceValueCent,
        data: benefit,
      }),
    ),
    ...benefits.flatMap((benefit) =>
      benefit.claimedAt === null
        ? []
        : [
            createEntry({
              at: benefit.claimedAt,
              kind: 'claim',
              cycleNo,
              status: benefit.codeStatus,
              title: `Benefit ${benefit.name} was claimed`,
              detail: benefit.claimNo,
              data: benefit,
            }),
          ],
    ),
  ];
}

function describeRefundEntry(refund: RefundView, currency: string | undefined): TimelineEntry {
  const { refundNo, cycleNo, status, amountCent, requestedBy: actor } = refund;
  return createEntry({
    at: refund.startedAt,
    kind: 'refund',
    cycleNo,
    status,
    title: `Refund ${refundNo} of ${formatAmount(amountCent, currency)}: ${status}`,
    detail: refund.reason ?? refund.note,
    actor,
    amountCent,
    data: refund,
  });
}

/** When an order was completed or has failed is written in its event alone. */
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
  const cycleNo = readField(event.data, 'cycleNo');
  const about = readField(event.data, 'paymentStatus') ?? readField(event.data, 'orderStatus');
  return createEntry({
    at: event.occurredAt,
    kind: 'event',
    cycleNo: typeof cycleNo === 'number' ? cycleNo : null,
    status: event.deliveryStatus,
    title: `Event ${event.eventId} ${event.eventType}${about === undefined ? '' : `: ${about}`}`,
    data: event,
  });
}

function readField(data: unknown, name: string): unknown {
  return typeof data === 'object' && data !== null ? (data as Record<string, unknown>)[name] : undefined;
}

function describePush(push: Push): TimelineEntry {
  const { at, outcome, eventId, httpStatus, answer } = push;
  const title = `Push of event ${eventId}: ${outcome}${httpStatus === null ? '' : `, HTTP ${httpStatus}`}`;
  return createEntry({ at, kind: 'push', status: outcome, title, detail: answer, data: push });
}

function describeAudit(entry: AuditOfOrder): TimelineEntry {
  const { at, actor, action, detail } = entry;
  const [why] = ['reason', 'note'].map((name) => detail[name]).filter((text) => typeof text === 'string');
  const cycleNo = typeof detail['cycleNo'] === 'number' ? detail['cycleNo'] : null;
  const amountCent = typeof detail['amountCent'] === 'number' ? detail['amountCent'] : null;
  return createEntry({
    at,
    kind: 'operator',
    cycleNo,
    title: action,
    detail: why ?? null,
    actor,
    amountCent,
    data: entry,
  });
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

/** The first that comes first. */
function createFuture(next: NextStep | null, pushes: readonly PlannedPush[]): TimelineEntry[] {
  const steps = pushes.map((push) =>
    createEntry({
      at: push.at,
      when: 'future',
      kind: 'push',
      title: `Event ${push.eventId} is pushed${push.retryNo === 0 ? '' : ` again, retry ${push.retryNo}`}`,
      data: push,
    }),
  );
  if (next) {
    const { cycleNo, amountCent } = next;
    const at = formatTime(next.at);
    steps.push(
      createEntry({
        at,
        when: 'future',
        kind: 'next',
        cycleNo,
        status: next.what,
        title: describeNext(next),
        amountCent,
        data: next,
      }),
    );
  }
  return steps.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
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
      return `The institution is asked about the debit of period ${cycleNo}${which}`;
  }
}

/** What the state of the order allows. */
function findActions(
  order: OrderOfAnyChannel,
  view: OrderView,
  refundable: readonly RefundablePeriod[],
  role: Role,
): OrderAction[] {
  const bySupport = { cycleNo: null, maxAmountCent: null, isAllowed: mayDo(role, 'support') };
  const actions: OrderAction[] = [];
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
      actions.push({ action: 'refund', cycleNo, isAllowed: mayDo(role, 'finance'), maxAmountCent });
    }
  }
  return actions;
}

interface RefundablePeriod {
  readonly cycleNo: number;
  /** Asked for and not made yet. */
  readonly waiting: readonly WaitingRefund[];
  /** What may still be asked for besides. */
  readonly maxAmountCent: number;
}

async function findRefundablePeriods(
  tx: Queryable,
  { orderNo, settlementMode }: OrderOfAnyChannel,
  view: OrderView,
): Promise<RefundablePeriod[]> {
  if (settlementMode !== 'SVC_DEDUCT') return [];
  const refundsOf = groupByPeriod(await findRefundsOfOrder(tx, orderNo));
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
