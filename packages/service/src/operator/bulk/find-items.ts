import { settlementModes } from '@perennial/wire/enums';
import { parseEventId } from '../../delivery/event-id.js';
import type { Queryable } from '../../platform/db/database.js';
import type { Order } from '../../subscriptions/domain/orders/order.js';
import { type PaymentReference, parseOrderNo } from '../../subscriptions/domain/orders/order-numbers.js';
import { planEndings } from '../../subscriptions/steps/ending/end-orders.js';
import { isRefundable } from '../../subscriptions/steps/payments/begin-refund.js';
import { requireChannelId } from '../channel-id.js';
import { findNewestEvents } from '../events/events.js';
import { OperatorError, type OperatorWithClock, refusal } from '../operator.js';
import { findMatchingOrders, type OrderFilterInput } from '../orders/list-orders.js';
import { requireRetryable, requireUnsubscribable } from '../orders/orders.js';
import { sumVoidedPeriods } from '../orders/previews.js';
import { formatPeriodSubject, parsePeriodSubject } from '../orders/refunds/period-subjects.js';
import { findWaitingRefunds } from '../orders/refunds/waiting-refunds-sql.js';
import { findMatchingFailures } from '../payments/failed-payments.js';
import { createNotFound, parseMoment, requireInteger, requireOneOf } from '../rules.js';
import { eventFilter } from '../schemas/events.js';
import { orderFilter } from '../schemas/orders.js';
import { failedFilter } from '../schemas/payments.js';
import type { BulkKind, NewBulkItem } from './bulk-sql.js';
import { type FoundPeriod, findEventsByNumber, findOrders, findPaidPeriods, findPeriods } from './find-items-sql.js';
import { type ListEntry, resolveNumbers } from './numbers.js';

/** The maximum number of items of a run. */
export const MAX_ITEMS = 10_000;

/** The selection of a run: named items, a pasted list, or a filter that selects all matching items of a list. */
export interface BulkChoice {
  readonly items?: readonly string[] | undefined;
  readonly filter?: Readonly<Record<string, string>> | undefined;
  /** The entries of a pasted or uploaded list, each once. */
  readonly numbers?: readonly ListEntry[] | undefined;
  readonly fileName?: string | undefined;
  /** The period of each listed order. Unset: the latest. */
  readonly cycleNo?: number | undefined;
}

/** Finds the items of a selection. Includes named items that cannot be processed, each with the reason. */
export async function findBulkItems(
  operator: OperatorWithClock,
  kind: BulkKind,
  choice: BulkChoice,
): Promise<NewBulkItem[]> {
  if (choice.numbers && choice.numbers.length > MAX_ITEMS) throw createTooMany();
  const items = choice.numbers
    ? await findListed(operator, kind, choice.numbers, choice.cycleNo)
    : choice.items
      ? await findNamed(operator, kind, unique(choice.items))
      : (await findMatching(operator, kind, choice.filter ?? {})).filter(({ refusal }) => refusal === null);
  if (items.length > MAX_ITEMS) throw createTooMany();
  return items;
}

const createTooMany = () =>
  refusal(
    'run-too-large',
  )`more than ${MAX_ITEMS} match: a run can have at most ${MAX_ITEMS} items, so narrow the filter`;

const unique = (names: readonly string[]): string[] => [...new Set(names)];

function findNamed(operator: OperatorWithClock, kind: BulkKind, names: readonly string[]): Promise<NewBulkItem[]> {
  if (kind === 'UNSUBSCRIBE') return findNamedOrders(operator, names);
  return kind === 'REPLAY' ? findNamedEvents(operator, names) : findNamedPeriods(operator, kind, names);
}

/**
 * Finds what the entries of a list name. Entries that name nothing become items with the reason, so that the run shows
 * every entry. Several entries may name the same order or period, which then is one item.
 */
async function findListed(
  operator: OperatorWithClock,
  kind: BulkKind,
  numbers: readonly ListEntry[],
  cycleNo: number | undefined,
): Promise<NewBulkItem[]> {
  const { database } = operator;
  const entries = await resolveNumbers(database, numbers);
  const found = entries.filter((entry) => 'orderNo' in entry);
  const refused = entries.flatMap((entry) =>
    'refusal' in entry ? [toRefused(entry.subject, null, entry.refusal)] : [],
  );
  if (kind === 'UNSUBSCRIBE') {
    const orderNos = [...new Set(found.map(({ orderNo }) => orderNo))];
    return [...(await toUnsubscribe(operator, await findOrders(database, orderNos))), ...refused];
  }
  const wanted = new Map(
    found.map((entry) => {
      const period = { orderNo: entry.orderNo, cycleNo: entry.cycleNo ?? cycleNo ?? entry.latestCycleNo };
      return [formatPeriodSubject(period.orderNo, period.cycleNo), period];
    }),
  );
  const periods = await findPeriods(database, [...wanted.values()]);
  const begun = new Set(periods.map((period) => formatPeriodSubject(period.orderNo, period.cycleNo)));
  const missing = [...wanted].filter(([subject]) => !begun.has(subject));
  return [
    ...(kind === 'RETRY' ? periods.map(toRetry) : await toRefunds(database, periods)),
    ...missing.map(([subject, period]) =>
      toRefused(
        subject,
        period.orderNo,
        refusal('no-such-period')`order ${period.orderNo} has no period ${period.cycleNo}`,
      ),
    ),
    ...refused,
  ];
}

const toRefused = (subject: string, orderNo: number | null, why: OperatorError): NewBulkItem => ({
  ...{ subject, orderNo, amountCent: 0, refusal: why },
});

async function findNamedPeriods(
  { database }: OperatorWithClock,
  kind: 'RETRY' | 'REFUND',
  names: readonly string[],
): Promise<NewBulkItem[]> {
  const periods = names.map((name) => requireParsed(parsePeriodSubject(name), 'period', name));
  const found = await findPeriods(database, periods);
  const known = new Set(found.map(({ orderNo, cycleNo }) => formatPeriodSubject(orderNo, cycleNo)));
  requireAllKnown('period', names, known);
  return kind === 'RETRY' ? found.map(toRetry) : toRefunds(database, found);
}

function requireParsed<T>(parsed: T | undefined, what: string, name: string): T {
  if (parsed === undefined) throw createNotFound(what, name);
  return parsed;
}

function requireAllKnown(what: string, names: readonly string[], known: ReadonlySet<string>): void {
  const unknown = names.find((name) => !known.has(name));
  if (unknown !== undefined) throw createNotFound(what, unknown);
}

function toRetry({ orderNo, cycleNo, status, amountCent }: FoundPeriod): NewBulkItem {
  return {
    subject: formatPeriodSubject(orderNo, cycleNo),
    orderNo,
    amountCent,
    refusal: refusalOf(() => requireRetryable(orderNo, { cycleNo, status })),
  };
}

/** Creates the items of a refund run. Refunds that wait for approval reduce the refundable amount. */
async function toRefunds(db: Queryable, periods: readonly FoundPeriod[]): Promise<NewBulkItem[]> {
  const subjects = periods.map(({ orderNo, cycleNo }) => formatPeriodSubject(orderNo, cycleNo));
  const waitingCent = new Map<string, number>();
  for (const { subject, amountCent } of await findWaitingRefunds(db, subjects)) {
    waitingCent.set(subject, (waitingCent.get(subject) ?? 0) + amountCent);
  }
  return periods.map(({ orderNo, cycleNo, settlementMode, status, leftCent }) => {
    const subject = formatPeriodSubject(orderNo, cycleNo);
    const waits = waitingCent.get(subject) ?? 0;
    const amountCent = leftCent - waits;
    const isPossible = settlementMode === 'SVC_DEDUCT' && isRefundable({ status }) && amountCent > 0;
    const nothingLeft =
      status === 'REFUND_FULL'
        ? refusal('period-refunded')`period ${cycleNo} of order ${orderNo} was already refunded in full`
        : waits > 0
          ? refusal(
              'refund-waits',
            )`period ${cycleNo} of order ${orderNo} is ${status}: the whole rest was already requested`
          : refusal('nothing-to-refund')`period ${cycleNo} of order ${orderNo} is ${status}: nothing is left to refund`;
    return {
      subject,
      orderNo,
      amountCent: isPossible ? amountCent : 0,
      refusal: isPossible ? null : nothingLeft,
    };
  });
}

/** Returns the refusal that `check` throws, or null if it does not throw. */
export function refusalOf(check: () => void): OperatorError | null {
  try {
    check();
    return null;
  } catch (error) {
    if (error instanceof OperatorError) return error;
    throw error;
  }
}

async function findNamedOrders(operator: OperatorWithClock, names: readonly string[]): Promise<NewBulkItem[]> {
  const orderNos = names.map((name) => requireParsed(parseOrderNo(name), 'order', name));
  const orders = await findOrders(operator.database, orderNos);
  requireAllKnown('order', names, new Set(orders.map(({ orderNo }) => String(orderNo))));
  return toUnsubscribe(operator, orders);
}

async function toUnsubscribe({ database, clock }: OperatorWithClock, orders: readonly Order[]): Promise<NewBulkItem[]> {
  const refused = new Map(orders.map((order) => [order.orderNo, refusalOf(() => requireUnsubscribable(order))]));
  const possible = orders.filter(({ orderNo }) => refused.get(orderNo) === null);
  const endings = new Map(
    (await planEndings(database, possible, clock.now())).map((ending) => [ending.order.orderNo, ending]),
  );
  return orders.map(({ orderNo, status }) => {
    const ending = endings.get(orderNo);
    return {
      subject: String(orderNo),
      orderNo,
      amountCent: ending ? sumVoidedPeriods(ending).notCollectedCent : 0,
      refusal:
        refused.get(orderNo) ??
        (ending ? null : refusal('nothing-to-end')`order ${orderNo} is ${status}: there is nothing to unsubscribe`),
    };
  });
}

async function findNamedEvents({ database }: OperatorWithClock, names: readonly string[]): Promise<NewBulkItem[]> {
  const references = names.map((name) => requireParsed(parseEventId(name), 'event', name));
  const found = await findEventsByNumber(
    database,
    unique(references.map(({ eventNo }) => String(eventNo))).map(Number),
  );
  const orderOf = new Map(found.map(({ eventNo, orderNo }) => [eventNo, orderNo]));
  return references.map(({ eventNo }, place) => {
    const name = names[place] ?? '';
    return { subject: name, orderNo: requireParsed(orderOf.get(eventNo), 'event', name), amountCent: 0, refusal: null };
  });
}

async function findMatching(
  operator: OperatorWithClock,
  kind: BulkKind,
  filter: Readonly<Record<string, string>>,
): Promise<NewBulkItem[]> {
  switch (kind) {
    case 'RETRY':
      return findFailedPeriods(operator, requireNames(filter, failedFilter));
    case 'REPLAY':
      return findMatchingEvents(operator, requireNames(filter, eventFilter));
    case 'UNSUBSCRIBE':
      return toUnsubscribe(operator, await findOrdersOfList(operator, filter));
    case 'REFUND': {
      const { paidFrom, paidTo, cycleNo: period, ...ofOrders } = filter;
      const cycleNo = period === undefined ? undefined : requireInteger('the period', Number(period), 1, 9999);
      const periods =
        paidFrom === undefined && paidTo === undefined
          ? // Without a period, the filter selects the latest period of each order.
            (await findOrdersOfList(operator, ofOrders)).map((order) => ({
              orderNo: order.orderNo,
              cycleNo: cycleNo ?? order.cycleNo,
            }))
          : await findPaid(operator, { paidFrom, paidTo, cycleNo }, ofOrders);
      return toRefunds(operator.database, await findPeriods(operator.database, periods));
    }
  }
}

/** Finds the refundable payments of a time, which the operator limits by channel, product and period. */
async function findPaid(
  { database }: OperatorWithClock,
  {
    paidFrom,
    paidTo,
    cycleNo,
  }: {
    readonly paidFrom: string | undefined;
    readonly paidTo: string | undefined;
    readonly cycleNo: number | undefined;
  },
  filter: Readonly<Record<string, string>>,
): Promise<PaymentReference[]> {
  for (const name of Object.keys(filter)) requireOneOf('a name in the filter', name, ['appId', 'productCode']);
  const { appId, productCode } = filter;
  const channelId = appId === undefined ? null : await requireChannelId(database, appId);
  const from = parseMoment(paidFrom) ?? 0;
  const to = parseMoment(paidTo) ?? MAX_TIME;
  const found = await findPaidPeriods(
    database,
    from,
    to,
    channelId,
    productCode ?? null,
    cycleNo ?? null,
    MAX_ITEMS + 1,
  );
  if (found.length > MAX_ITEMS) throw createTooMany();
  return found;
}

/** The year 3000. Limits a filter without an end. */
const MAX_TIME = 32_503_680_000_000;

type Texts<Name extends string> = { readonly [N in Name]?: string };

/** Refuses unknown filter names, because ignoring a misspelled filter would select too many items. */
function requireNames<Name extends string>(
  filter: Readonly<Record<string, string>>,
  { properties }: { readonly properties: Readonly<Record<Name, unknown>> },
): Texts<Name> {
  for (const name of Object.keys(filter)) requireOneOf('a name in the filter', name, Object.keys(properties));
  return filter as Texts<Name>;
}

async function findFailedPeriods(
  operator: OperatorWithClock,
  input: Texts<keyof typeof failedFilter.properties>,
): Promise<NewBulkItem[]> {
  if (input.status === 'FAIL') throw refusal('run-only-retryable')`only periods in FAIL_RETRY can be retried`;
  const found = await findMatchingFailures(operator, { ...input, status: 'FAIL_RETRY' }, MAX_ITEMS + 1);
  if (found.length > MAX_ITEMS) throw createTooMany();
  return found.map(({ orderNo, cycleNo, amountCent }) => ({
    subject: formatPeriodSubject(orderNo, cycleNo),
    orderNo,
    amountCent,
    refusal: null,
  }));
}

async function findMatchingEvents(
  operator: OperatorWithClock,
  { appId, ...filter }: Texts<keyof typeof eventFilter.properties>,
): Promise<NewBulkItem[]> {
  if (appId === undefined) throw refusal('run-without-channel')`a replay needs one channel: give its appId`;
  const events = await findNewestEvents(operator, { appId, ...filter }, MAX_ITEMS + 1);
  return events.map(({ eventNo, orderNo }) => ({
    subject: String(eventNo),
    orderNo: Number(orderNo),
    amountCent: 0,
    refusal: null,
  }));
}

async function findOrdersOfList(
  operator: OperatorWithClock,
  filter: Readonly<Record<string, string>>,
): Promise<readonly Order[]> {
  const orders = await findMatchingOrders(operator, requireOrderFilter(filter), MAX_ITEMS + 1);
  if (orders.length > MAX_ITEMS) throw createTooMany();
  return orders;
}

function requireOrderFilter(filter: Readonly<Record<string, string>>): OrderFilterInput {
  const { settlementMode, failed, ...rest } = requireNames(filter, orderFilter);
  if (Object.keys(filter).length === 0) throw refusal('run-of-all-orders')`every order would match: narrow the filter`;
  return {
    ...rest,
    ...(settlementMode === undefined
      ? {}
      : { settlementMode: requireOneOf('the settlement mode', settlementMode, settlementModes) }),
    ...(failed === undefined ? {} : { failed: requireOneOf('failed', failed, ['true', 'false'] as const) }),
  };
}
