import {
  BadMessage,
  type Clock,
  type DebitOutcome,
  type Institution,
  type NotFound,
  type RefundOutcome,
  systemClock,
} from '@perennial/bridge-kit';
import { createBills } from './bill.js';
import { ALREADY_UNSIGNED, OUTCOME_UNKNOWN_CODES, toDecline, toRefusal } from './declines.js';
import { createGateway, type GatewaySettings, Unknown } from './gateway.js';
import { toCents, toYuan } from './money.js';
import { toOutcome, toTold } from './notices.js';
import { createNumbers } from './numbers.js';
import { readTime } from './times.js';

export interface AlipayOptions extends GatewaySettings {
  /** The text that the user reads in Alipay. */
  readonly subject: string;
  /**
   * A prefix (letters, digits, underscores) for every trade and refund number. It distinguishes this bridge's trades
   * from the merchant's other trades.
   */
  readonly numberPrefix?: string | undefined;
  /** The public URL of this bridge's webhooks, to which Alipay sends notices. */
  readonly notifyUrl?: string | undefined;
  readonly clock?: Clock;
}

const PAGE_LINES = 1000;
/** Alipay closes a trade that is still open after this time, so every trade has a result. */
const OPEN_FOR = '30m';
const NOTICE_TAKEN = { status: 200, contentType: 'text/plain', body: 'success' };

/** Creates the institution for periodic debits (周期扣款) on agreements signed elsewhere and shared by `agreement_no`. */
export function createAlipayInstitution(options: AlipayOptions): Institution {
  const { subject, numberPrefix = '', notifyUrl, clock = systemClock } = options;
  const gateway = createGateway(options, clock, notifyUrl);
  const numbers = createNumbers(numberPrefix, subject);
  const bills = createBills(gateway, numbers, clock);

  async function findTrade(attemptNo: string, signal: AbortSignal): Promise<DebitOutcome | NotFound> {
    const { outTradeNo } = numbers.toTrade(attemptNo);
    const answer = await gateway.call('alipay.trade.query', { out_trade_no: outTradeNo }, signal);
    if (answer.outcome === 'done') return toOutcome(answer.fields, String(answer.fields['trade_status']));
    if (answer.subCode === 'ACQ.TRADE_NOT_EXIST') return { status: 'NOT_FOUND' };
    throw new Unknown(`alipay.trade.query: ${answer.subCode}`);
  }

  async function findRefund(
    { refundNo, attemptNo }: { readonly refundNo: string; readonly attemptNo?: string },
    signal: AbortSignal,
  ): Promise<RefundOutcome | NotFound> {
    const outRequestNo = numbers.toRefund(refundNo);
    // Alipay cannot query a refund without its trade. After NOT_FOUND the refund is sent again, which is safe: Alipay
    // executes each refund number once.
    if (attemptNo === undefined || outRequestNo === undefined) return { status: 'NOT_FOUND' };
    const content = {
      out_trade_no: numbers.toTrade(attemptNo).outTradeNo,
      out_request_no: outRequestNo,
      query_options: ['gmt_refund_pay'],
    };
    const { outcome, subCode, fields } = await gateway.call('alipay.trade.fastpay.refund.query', content, signal);
    if (outcome === 'failed' && subCode === 'ACQ.TRADE_NOT_EXIST') return { status: 'NOT_FOUND' };
    if (outcome !== 'done') throw new Unknown(`alipay.trade.fastpay.refund.query: ${subCode}`);
    const { refund_status: status, refund_amount: amount, trade_no: institutionRef } = fields;
    // Code 10000 only means that the query was answered. Without a refund status nothing was refunded.
    if (status === undefined || status === '') return { status: 'NOT_FOUND' };
    const amountCent = toCents(amount);
    if (status !== 'REFUND_SUCCESS' || !amountCent || typeof institutionRef !== 'string') return { status: 'PENDING' };
    return {
      status: 'SUCCESS',
      amountCent,
      refundedAt: readTime(fields['gmt_refund_pay']) ?? clock.now(),
      institutionRef,
    };
  }

  return {
    name: 'alipay',
    // The only currency of Alipay's periodic debits.
    currency: 'CNY',
    // Alipay pays an out_trade_no once and refunds an out_request_no once, without a time limit.
    repeatableForMs: Number.MAX_SAFE_INTEGER,

    async debit({ attemptNo, institutionNo, amountCent }, signal) {
      const sent = numbers.toTrade(attemptNo);
      const content = {
        out_trade_no: sent.outTradeNo,
        total_amount: toYuan(amountCent),
        subject: sent.subject,
        product_code: 'CYCLE_PAY_AUTH',
        agreement_params: { agreement_no: institutionNo },
        timeout_express: OPEN_FOR,
      };
      const answer = await gateway.call('alipay.trade.pay', content, signal);
      if (answer.outcome === 'done') return toOutcome(answer.fields, 'TRADE_SUCCESS');
      if (answer.outcome === 'waiting') return toOutcome(answer.fields, 'WAIT_BUYER_PAY');
      if (!OUTCOME_UNKNOWN_CODES.has(answer.subCode)) return toDecline(answer.subCode, answer.words);
      const found = await findTrade(attemptNo, signal);
      if (found.status === 'NOT_FOUND') throw new Unknown(`alipay.trade.pay: ${answer.subCode}, but there is no trade`);
      return found;
    },

    findDebit: ({ attemptNo }, signal) => findTrade(attemptNo, signal),

    async refund({ refundNo, attemptNo, amountCent }, signal) {
      const outRequestNo = numbers.toRefund(refundNo);
      if (outRequestNo === undefined) {
        return { status: 'REFUSED', reason: 'Alipay accepts only letters, digits and underscores in refund numbers' };
      }
      const content = {
        out_trade_no: numbers.toTrade(attemptNo).outTradeNo,
        refund_amount: toYuan(amountCent),
        out_request_no: outRequestNo,
      };
      const { outcome, subCode, words, fields } = await gateway.call('alipay.trade.refund', content, signal);
      if (outcome === 'failed') return { status: 'REFUSED', reason: toRefusal(subCode, words) };
      const refundedAt = readTime(fields['gmt_refund_pay']);
      const institutionRef = fields['trade_no'];
      // `fund_change` Y means that this request moved money. `refund_fee` does not show this, because it is the sum of
      // all refunds of the trade.
      if (fields['fund_change'] === 'Y' && refundedAt !== undefined && typeof institutionRef === 'string') {
        return { status: 'SUCCESS', amountCent, refundedAt, institutionRef };
      }
      const found = await findRefund({ refundNo, attemptNo }, signal);
      return found.status === 'NOT_FOUND' ? { status: 'PENDING' } : found;
    },

    findRefund,

    async cancelAgreement(institutionNo, signal) {
      const { outcome, subCode, words } = await gateway.call(
        'alipay.user.agreement.unsign',
        { agreement_no: institutionNo },
        signal,
      );
      if (outcome === 'done' || ALREADY_UNSIGNED.has(subCode)) return { status: 'CANCELED' };
      return { status: 'REFUSED', reason: `${words} (${subCode})` };
    },

    async statement(day, cursor) {
      const from = cursor === undefined ? 0 : Number(cursor);
      if (!Number.isSafeInteger(from) || from < 0) throw new BadMessage('the cursor is not one of this statement');
      const lines = await bills.readLines(day);
      const next = from + PAGE_LINES;
      return { lines: lines.slice(from, next), nextCursor: next < lines.length ? String(next) : undefined };
    },

    async readWebhook({ body }) {
      const notice = Object.fromEntries(new URLSearchParams(body.toString('utf8')));
      if (!gateway.isSigned(notice) || notice['app_id'] !== options.appId) return undefined;
      return { told: toTold(notice, numbers), answer: NOTICE_TAKEN };
    },
  };
}
