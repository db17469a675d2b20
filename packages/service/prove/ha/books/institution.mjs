import { doubled, lost, wrong } from './findings.mjs';

/** Compares the institution's ledger with the stored state: debits, refunds, ended agreements and notices. */
export function institutionOf({ orders }, { ledger, writes }) {
  const all = [...orders.values()];
  return [
    ...debitsOf(all, ledger.debits),
    ...refundsOf(all, ledger.refunds),
    ...agreementsOf(all, ledger.canceledAgreements, writes),
    ...ledger.owedNotices.map((noticeNo) => lost(`notice ${noticeNo} of the institution was never accepted`)),
  ];
}

/** The service's stored status for each status at the institution. */
const STATUS_HERE = { SUCCESS: 'SUCCESS', DECLINED: 'FAIL', REFUSED: 'FAIL', PENDING: 'STARTED' };

/** Checks that each debit is stored with its outcome, amount and reference, and that no period was debited twice. */
function debitsOf(orders, ledger) {
  const findings = [];
  const debits = new Map(ledger.map((debit) => [debit.attemptNo, debit]));
  const known = new Set();
  const paid = new Set();
  for (const attempt of orders.flatMap(({ attempts }) => attempts)) {
    const { orderNo, cycleNo, attemptNo, amountCent, status, institutionRef } = attempt;
    known.add(attemptNo);
    const debit = debits.get(attemptNo);
    const taken = debit?.debitedCent ?? 0;
    if (taken > 0) {
      const period = `${orderNo}/${cycleNo}`;
      if (paid.has(period)) findings.push(doubled(`period ${period} was debited twice`));
      paid.add(period);
    }
    const says = `debit ${attemptNo} is ${status} here, and ${debit?.status ?? 'unknown'} at the institution`;
    // An attempt that the institution has never seen can be open, or can have failed before it was sent.
    if (debit !== undefined && STATUS_HERE[debit.status] !== status)
      findings.push(lost(`${says}, which took ${taken} cents`));
    else if (debit === undefined && status === 'SUCCESS') findings.push(lost(`${says}, which took 0 cents`));
    else if (status === 'SUCCESS' && taken !== amountCent)
      findings.push(wrong(`${says}: ${amountCent} cents here, ${taken} there`));
    else if (status === 'SUCCESS' && institutionRef !== debit.institutionRef)
      findings.push(wrong(`${says}, under another reference`));
  }
  for (const number of debits.keys()) {
    if (!known.has(number)) findings.push(lost(`debit ${number} is at the institution, and has no attempt here`));
  }
  return findings;
}

/** Checks that each refund is stored with its outcome and amount. */
function refundsOf(orders, ledger) {
  const findings = [];
  const there = new Map(ledger.map((refund) => [refund.refundNo, refund]));
  const known = new Set();
  for (const { refundNo, amountCent, status } of orders.flatMap(({ refunds }) => refunds)) {
    known.add(refundNo);
    const refund = there.get(refundNo);
    const says = `refund ${refundNo} is ${status} here, and ${refund?.status ?? 'unknown'} at the institution`;
    if (refund === undefined ? status === 'SUCCESS' : STATUS_HERE[refund.status] !== status) findings.push(lost(says));
    else if (refund !== undefined && refund.amountCent !== amountCent)
      findings.push(wrong(`${says}: ${amountCent} cents here, ${refund.amountCent} there`));
  }
  for (const number of there.keys()) {
    if (!known.has(number)) findings.push(lost(`refund ${number} is at the institution and not here`));
  }
  return findings;
}

/**
 * Compares the shared agreements that have ended in the service and at the institution. An agreement that has ended on
 * one side must have ended on the other, unless the service is still about to cancel it at the institution.
 */
function agreementsOf(orders, canceled, writes) {
  const ended = new Set(canceled);
  const numbers = new Map(
    writes
      .filter(({ body }) => body?.sharedAgreement !== undefined)
      .map(({ about, body }) => [about, body.sharedAgreement.sharedAgreementNo]),
  );
  return orders.flatMap((order) => {
    const number = numbers.get(order.externalOrderNo);
    if (number === undefined) return [];
    const { orderNo, status, agreementStatus } = order;
    const says = `agreement ${number} of order ${orderNo} is ${agreementStatus} here`;
    if (ended.has(number)) {
      const isOpen = agreementStatus === 'BIND_SUCCESS' || status === 'ACTIVE';
      return isOpen ? [lost(`${says}, the order ${status}, and it has ended at the institution`)] : [];
    }
    const isAsked = status === 'UNSUBSCRIBED' && agreementStatus === 'CANCELED' && !order.isCancelling;
    return isAsked ? [lost(`${says}, and the institution would still debit it`)] : [];
  });
}
