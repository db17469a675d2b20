import { countFinding, lost, wrong } from './findings.mjs';
import { PAID, sum } from './state.mjs';

/** Compares an order's stored rows with each other: totals, periods, debits, refunds, benefits and claims. */
export function periodsOfOrder(order) {
  return [...totalsOf(order), ...order.payments.flatMap((payment) => periodOf(order, payment))];
}

function totalsOf(order) {
  const { orderNo, payments } = order;
  const paid = payments.filter(({ status }) => PAID.has(status));
  const expected = {
    paidCycles: paid.length,
    paidAmountCent: sum(paid, ({ amountCent }) => amountCent),
    refundAmountCent: sum(payments, ({ refundAmountCent }) => refundAmountCent),
    latestPaymentStatus: payments.find(({ cycleNo }) => cycleNo === order.cycleNo)?.status,
  };
  return Object.entries(expected)
    .filter(([name, value]) => order[name] !== value)
    .map(([name, value]) => wrong(`order ${orderNo}: ${name} is ${order[name]}, by its periods ${value}`));
}

function periodOf(order, payment) {
  const { cycleNo, status, amountCent } = payment;
  const ofPeriod = (rows) => rows.filter((row) => row.cycleNo === cycleNo);
  const period = `period ${order.orderNo}/${cycleNo} is ${status}`;
  const isPaid = PAID.has(status);
  const debits = ofPeriod(order.attempts).filter((one) => one.status === 'SUCCESS').length;
  const refunds = ofPeriod(order.refunds).filter((one) => one.status === 'SUCCESS');
  const refundedCent = sum(refunds, (one) => one.amountCent);
  const findings = [
    ...countFinding(ofPeriod(order.benefits).length, isPaid ? 1 : 0, `${period}, its benefits`),
    ...countFinding(debits, isPaid && order.settlementMode === 'SVC_DEDUCT' ? 1 : 0, `${period}, its debits that paid`),
  ];
  if (amountCent !== order.amountCent) {
    findings.push(wrong(`${period} and costs ${amountCent} cents, the order ${order.amountCent}`));
  }
  if (payment.refundAmountCent !== refundedCent) {
    findings.push(wrong(`${period}: ${payment.refundAmountCent} cents refunded, by its refunds ${refundedCent}`));
  }
  const byRefunds = refundedCent === 0 ? undefined : refundedCent === amountCent ? 'REFUND_FULL' : 'REFUND_PART';
  if ((status.startsWith('REFUND_') ? status : undefined) !== byRefunds) {
    findings.push(wrong(`${period}, and ${refundedCent} of ${amountCent} cents were refunded`));
  }
  return [
    ...findings,
    ...ofPeriod(order.benefits).flatMap((benefit) => benefitOf(benefit, refundedCent === amountCent)),
  ];
}

/**
 * Checks that a claimed benefit has its claim and code, and that a benefit is revoked exactly if it is unclaimed and
 * its period was refunded in full.
 */
function benefitOf({ orderNo, cycleNo, position, status, claimNo, claimStatus }, isRefunded) {
  const benefit = `benefit ${orderNo}/${cycleNo}/${position} is ${status}`;
  const isClaimed = status === 'CLAIMED';
  if (isClaimed && (claimNo === null || claimStatus !== 'FULFILLED'))
    return [lost(`${benefit}, and its claim is not here`)];
  if (!isClaimed && claimStatus !== null) return [lost(`${benefit}, and has a claim`)];
  if ((status === 'REVOKED') !== (isRefunded && !isClaimed)) {
    return [wrong(`${benefit}, and its period was ${isRefunded ? '' : 'not '}refunded in full`)];
  }
  return [];
}
