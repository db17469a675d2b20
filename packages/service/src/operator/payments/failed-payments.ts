import type { Static } from '@perennial/wire';
import { declineKinds } from '@perennial/wire/enums';
import { formatPaymentOrderNo } from '../../subscriptions/domain/orders/order-numbers.js';
import { requireChannelId } from '../channel-id.js';
import type { Operator, OperatorWithClock } from '../operator.js';
import { LONG_LIST_MS, MAX_COUNTED, type PageInput, readList, readPage } from '../paging.js';
import { parseMoment, requireOneOf } from '../rules.js';
import type { Asked } from '../schemas/parts.js';
import type { failedFilter, failedSummary } from '../schemas/payments.js';
import {
  FAILED_STATUSES,
  type FailedFilter,
  type FailedKey,
  type FailedPayment,
  type RecoveredByTry,
  readFailedPayments,
  sumFailedPayments,
  sumRecovered,
} from './failed-payments-sql.js';

type FailedFilterInput = Asked<Static<typeof failedFilter>>;

/**
 * Returns a page. With the status FAIL_RETRY, the payments are sorted by the time of the retry, soonest first.
 * Otherwise they are sorted by the time of failure, latest first.
 */
export async function listFailedPayments(operator: OperatorWithClock, input: FailedFilterInput & PageInput) {
  const filter = await parseFailedFilter(operator, input);
  const { rows, nextCursor } = await readPage<FailedPayment, FailedKey>(
    // The status is part of the list's name, because the sort order depends on the status.
    `payments/failed/${filter.status ?? ''}`,
    input,
    [0, 0, 0],
    (after, limit) => readList(operator.database, (db) => readFailedPayments(db, filter, after, limit)),
    ({ micros, orderNo, cycleNo }) => [micros, orderNo, cycleNo],
  );
  return {
    payments: rows.map(({ micros: _, orderNo, ...payment }) => {
      const paymentOrderNo = formatPaymentOrderNo(orderNo, payment.cycleNo);
      return { ...payment, orderNo: String(orderNo), paymentOrderNo };
    }),
    nextCursor,
  };
}

/** Returns up to `limit` matching payments, which an action is to process. */
export async function findMatchingFailures(operator: Operator, input: FailedFilterInput, limit: number) {
  const filter = await parseFailedFilter(operator, input);
  return readList(operator.database, (db) => readFailedPayments(db, filter, undefined, limit), LONG_LIST_MS);
}

type Sum = Static<typeof failedSummary>['total'];

const MAX_REASONS = 50;
const RECOVERED_DAYS = 30;

/** Returns sums by kind of decline, by reason and by institution, largest first, and by number of attempts. */
export async function summarizeFailedPayments(operator: OperatorWithClock, input: FailedFilterInput) {
  const { database, clock } = operator;
  const filter = await parseFailedFilter(operator, input);
  const { groups, isAtLeast } = await readList(database, (db) => sumFailedPayments(db, filter, MAX_COUNTED));
  const since = clock.now() - RECOVERED_DAYS * 86_400_000;
  const recovered = await readList(database, (db) => sumRecovered(db, filter, since, MAX_COUNTED));
  const byKind = groupBy(groups, ({ declineKind }) => declineKind);
  return {
    isAtLeast,
    total: sum(groups),
    byKind: byKind.map(([declineKind, group]) => ({ declineKind, ...sum(group) })),
    byReason: byKind
      .flatMap(([declineKind, group]) =>
        groupBy(group, ({ reason }) => reason).map(([reason, same]) => ({ reason, declineKind, ...sum(same) })),
      )
      .toSorted((a, b) => b.payments - a.payments)
      .slice(0, MAX_REASONS),
    byInstitution: groupBy(groups, (one) => one.paymentChannelCode).map(([paymentChannelCode, group]) => ({
      paymentChannelCode,
      ...sum(group),
    })),
    byTry: sumByTry(groups),
    recoveredByTry: recovered.groups,
    isRecoveredAtLeast: recovered.isAtLeast,
  };
}

const sum = (group: readonly Sum[]): Sum => ({
  payments: group.reduce((total, { payments }) => total + payments, 0),
  amountCent: group.reduce((total, { amountCent }) => total + amountCent, 0),
});

function groupBy<One extends Sum, Key>(found: readonly One[], keyOf: (one: One) => Key): [Key, One[]][] {
  const groups = new Map<Key, One[]>();
  for (const one of found) {
    const group = groups.get(keyOf(one));
    if (group) group.push(one);
    else groups.set(keyOf(one), [one]);
  }
  return [...groups].toSorted(([, a], [, b]) => sum(b).payments - sum(a).payments);
}

const sumByTry = (found: readonly RecoveredByTry[]): RecoveredByTry[] =>
  groupBy(found, ({ tryNo }) => tryNo)
    .map(([tryNo, group]) => ({ tryNo, ...sum(group) }))
    .toSorted((a, b) => a.tryNo - b.tryNo);

export async function parseFailedFilter({ database }: Operator, input: FailedFilterInput): Promise<FailedFilter> {
  const { status, reason, declineKind, paymentChannelCode, appId, productCode, from, to } = input;
  return {
    status: status === undefined ? undefined : requireOneOf('the status', status, FAILED_STATUSES),
    reason,
    declineKind: declineKind === undefined ? undefined : requireOneOf('the kind of decline', declineKind, declineKinds),
    paymentChannelCode,
    channelId: appId === undefined ? undefined : await requireChannelId(database, appId),
    productCode,
    from: parseMoment(from),
    to: parseMoment(to),
  };
}
