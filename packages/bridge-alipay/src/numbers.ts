import { createHash } from 'node:crypto';

/**
 * A trade number and subject as sent to Alipay. An `out_trade_no` may have 64 letters, digits and underscores
 * (https://opendocs.alipay.com/open/38d751b1_alipay.trade.pay), but an attemptNo is any visible ASCII. An attemptNo in
 * Alipay's form is sent unchanged after the prefix. All numbers that the service creates have this form. Any other
 * attemptNo is sent as a hash. Its original is then at the end of the subject, in hex, because notices and bills repeat
 * the subject.
 */
export interface SentTrade {
  readonly outTradeNo: string;
  readonly subject: string;
}

export interface Numbers {
  toTrade(attemptNo: string): SentTrade;
  /** Returns the attemptNo, or undefined if the trade is recognizably not this bridge's. */
  fromTrade(outTradeNo: string, subject: string): string | undefined;
  /**
   * Returns undefined if the refundNo cannot be sent unchanged. A refundNo is not hashed, because Alipay's bills have
   * no field that could hold the original.
   */
  toRefund(refundNo: string): string | undefined;
  fromRefund(outRequestNo: string): string | undefined;
}

const MAX_LENGTH = 64;
const HASHED = 'P_';

export function createNumbers(prefix: string, subject: string): Numbers {
  const isPlain = (number: string) =>
    /^\w+$/.test(number) && !number.startsWith(HASHED) && prefix.length + number.length <= MAX_LENGTH;
  const toHashed = (number: string) =>
    `${prefix}${HASHED}${createHash('sha256').update(number).digest('hex')}`.slice(0, MAX_LENGTH);
  const withoutPrefix = (sent: string) => (sent.startsWith(prefix) ? sent.slice(prefix.length) : undefined);

  return {
    toTrade(attemptNo) {
      if (isPlain(attemptNo)) return { outTradeNo: `${prefix}${attemptNo}`, subject };
      return {
        outTradeNo: toHashed(attemptNo),
        subject: `${subject} ${Buffer.from(attemptNo, 'latin1').toString('hex')}`,
      };
    },
    fromTrade(outTradeNo, sentSubject) {
      const number = withoutPrefix(outTradeNo);
      if (number === undefined || isPlain(number)) return number;
      const hex = sentSubject.slice(sentSubject.lastIndexOf(' ') + 1);
      const hidden = Buffer.from(hex, 'hex').toString('latin1');
      return hidden !== '' && toHashed(hidden) === outTradeNo ? hidden : undefined;
    },
    toRefund: (refundNo) => (isPlain(refundNo) ? `${prefix}${refundNo}` : undefined),
    fromRefund: withoutPrefix,
  };
}
