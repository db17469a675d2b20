import type { DebitOutcome, Told } from '@perennial/bridge-kit';
import { toCents } from './money.js';
import type { Numbers } from './numbers.js';
import { readTime } from './times.js';

type Fields = Readonly<Record<string, unknown>>;

const textOf = (value: unknown) => (typeof value === 'string' ? value : '');

/**
 * Returns the outcome of a trade from a query, a notice or a debit's response
 * (https://docs.open.alipay.com/api_1/alipay.trade.query; notices: https://developer.aliyun.com/ask/285129). A closed
 * trade was either never paid, or paid and then fully refunded. It was paid if it has a payment time or a refund.
 */
export function toOutcome(trade: Fields, status: string): DebitOutcome {
  const institutionRef = textOf(trade['trade_no']);
  const paidAt = readTime(trade['gmt_payment'] ?? trade['send_pay_date']);
  const amountCent = toCents(trade['total_amount']);
  const pending: DebitOutcome = { status: 'PENDING', ...(institutionRef === '' ? {} : { institutionRef }) };
  if (status === 'TRADE_CLOSED' && paidAt === undefined && !isRefunded(trade)) {
    const reason = 'the trade was closed unpaid (TRADE_CLOSED)';
    return { status: 'DECLINED', decline: 'RETRYABLE', declineKind: 'OTHER', reason };
  }
  const isPaid = ['TRADE_SUCCESS', 'TRADE_FINISHED', 'TRADE_CLOSED'].includes(status);
  if (!isPaid || paidAt === undefined || !amountCent || institutionRef === '') return pending;
  return { status: 'SUCCESS', amountCent, paidAt, institutionRef };
}

const isRefunded = (trade: Fields) => trade['gmt_refund'] !== undefined || trade['refund_fee'] !== undefined;

/** Translates a verified notice. Reports no refunds, because a notice states only their sum and does not name them. */
export function toTold(notice: Readonly<Record<string, string>>, numbers: Numbers): readonly Told[] {
  const { notify_type: type, status = '', agreement_no: institutionNo = '' } = notice;
  if (type === 'dut_user_unsign' && status === 'UNSIGN' && institutionNo !== '') {
    return [{ about: 'agreement-ended', institutionNo, reason: 'the agreement was ended at Alipay' }];
  }
  if (type !== 'trade_status_sync') return [];
  const attemptNo = numbers.fromTrade(notice['out_trade_no'] ?? '', notice['subject'] ?? '');
  if (!attemptNo) return [];
  return [{ about: 'debit', attemptNo, outcome: toOutcome(notice, notice['trade_status'] ?? '') }];
}
