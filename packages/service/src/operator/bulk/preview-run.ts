import type { Queryable } from '../../platform/db/database.js';
import type { PaymentReference } from '../../subscriptions/domain/orders/order-numbers.js';
import type { PeriodToRefund } from '../../subscriptions/steps/payments/begin-refund.js';
import { findPaymentsOfPeriods } from '../../subscriptions/store/orders/orders-sql.js';
import { findRefundsOfOrders } from '../../subscriptions/store/payments/refunds-sql.js';
import type { OperatorWithClock } from '../operator.js';
import { readAtOneMoment } from '../orders/at-one-moment.js';
import { findUnclaimedBenefits, type UnclaimedBenefit } from '../orders/orders-sql.js';
import { countByType, countNames, NO_EFFECTS, type Preview, planRefund } from '../orders/previews.js';
import { formatPeriodSubject, parsePeriodSubject } from '../orders/refunds/period-subjects.js';
import { requireRefundableAmount } from '../orders/refunds/refunds.js';
import { createNotFound } from '../rules.js';
import { parseRunId } from './bulk-runs.js';
import { findItems, findRun } from './bulk-sql.js';
import { MAX_ITEMS, refusalOf } from './find-items.js';
import { findOrders } from './find-items-sql.js';

/** Previews the refunds that a run has not begun. Omits items that would be refused now. */
export async function previewRun(
  { database, clock, currency }: OperatorWithClock,
  { runId }: { readonly runId: string },
): Promise<Preview> {
  return readAtOneMoment(database, async (tx) => {
    const run = await findRun(tx, parseRunId(runId));
    if (run?.kind !== 'REFUND') throw createNotFound('run', runId);
    const items = run.status === 'DECLINED' ? [] : await findItems(tx, run.runId, 'WAITING', undefined, MAX_ITEMS);
    const periods = await findPeriodsToRefund(
      tx,
      items.flatMap(({ subject }) => parsePeriodSubject(subject) ?? []),
    );
    const planned = items.flatMap(({ subject, amountCent }) => {
      const period = periods.get(subject);
      if (!period || refusalOf(() => requireRefundableAmount(period, amountCent, currency))) return [];
      const plan = planRefund(period, period.benefits, { amountCent, keepBenefits: false, now: clock.now() });
      return [{ amountCent, ...plan }];
    });
    return {
      ...NO_EFFECTS,
      refunds: planned.length,
      refundCent: planned.reduce((sum, { amountCent }) => sum + amountCent, 0),
      benefitsRevoked: countNames(planned.flatMap(({ revoked }) => revoked)),
      events: countByType(planned.flatMap(({ events }) => events)),
      needsApproval: run.approvedBy === null,
    };
  });
}

/** Returns the periods with their unclaimed benefits, by subject. Omits periods that have not begun. */
async function findPeriodsToRefund(
  tx: Queryable,
  references: readonly PaymentReference[],
): Promise<Map<string, PeriodToRefund & { readonly benefits: readonly UnclaimedBenefit[] }>> {
  const orderNos = references.map(({ orderNo }) => orderNo);
  const cycleNos = references.map(({ cycleNo }) => cycleNo);
  const orders = new Map((await findOrders(tx, orderNos)).map((order) => [order.orderNo, order]));
  const refunds = groupBySubject(await findRefundsOfOrders(tx, orderNos));
  const benefits = groupBySubject(await findUnclaimedBenefits(tx, orderNos, cycleNos));
  return new Map(
    (await findPaymentsOfPeriods(tx, orderNos, cycleNos)).flatMap((payment) => {
      const subject = subjectOf(payment);
      const order = orders.get(payment.orderNo);
      const rest = { refunds: refunds.get(subject) ?? [], benefits: benefits.get(subject) ?? [] };
      return order ? [[subject, { order, payment, ...rest }]] : [];
    }),
  );
}

const subjectOf = ({ orderNo, cycleNo }: PaymentReference): string => formatPeriodSubject(orderNo, cycleNo);

function groupBySubject<T extends PaymentReference>(rows: readonly T[]): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const row of rows) {
    const group = groups.get(subjectOf(row));
    if (group) group.push(row);
    else groups.set(subjectOf(row), [row]);
  }
  return groups;
}
