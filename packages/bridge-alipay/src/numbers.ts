import { createHash } from 'node:crypto';

/**
 * `out_trade_no` has up to 64 letters, digits and underscores (https://opendocs.alipay.com/open/38d751b1_alipay.trade.pay), an
 * attemptNo any visible ASCII. What Alipay takes is sent as it is, behind the prefix. Whatever it does not take is sent as a hash, and
 * stands in hex at the end of the subject, which comes back in notices and in the bill. The service makes digits alone.
 */
export interface SentTrade {
  readonly outTradeNo: string;
  readonly subject: string;
}

export interface Numbers {
  toTrade(attemptNo: string): SentTrade;
  /** Undefined for a trade that is not one of this bridge. */
  fromTrade(outTradeNo: string, subject: string): string | undefined;
  /** Undefined for a refundNo that Alipay does not take. The bill has nothing else of a refund, so a hash could not be read there. */
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
