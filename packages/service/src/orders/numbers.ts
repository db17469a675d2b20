import type { Queryable } from '../db/database.js';

/** paymentOrderNo is orderNo x 10,000 + cycleNo: as text, since it may pass 2^53. */
export function paymentOrderNo(orderNo: number | string, cycleNo: number): string {
  return `${orderNo}${String(cycleNo).padStart(4, '0')}`;
}

/** The institution's idempotency key of one try to debit one period. */
export function attemptNo(orderNo: number, cycleNo: number, tryNo: number): string {
  return `${paymentOrderNo(orderNo, cycleNo)}${String(tryNo).padStart(2, '0')}`;
}

export interface PaymentReference {
  readonly orderNo: number;
  readonly cycleNo: number;
}

/** Nothing for a text that cannot be the number of a period. */
export function parsePaymentOrderNo(text: string): PaymentReference | undefined {
  if (!/^[1-9]\d{4,18}$/.test(text)) return undefined;
  const orderNo = Number(text.slice(0, -4));
  const cycleNo = Number(text.slice(-4));
  return cycleNo === 0 || !Number.isSafeInteger(orderNo) ? undefined : { orderNo, cycleNo };
}

export interface AttemptReference extends PaymentReference {
  readonly tryNo: number;
}

export function parseAttemptNo(text: string): AttemptReference | undefined {
  const payment = parsePaymentOrderNo(text.slice(0, -2));
  const tryNo = /\d\d$/.test(text) ? Number(text.slice(-2)) : 0;
  return payment && tryNo > 0 ? { ...payment, tryNo } : undefined;
}

/** Nothing for a text that cannot be an order's number. */
export function parseOrderNo(text: string): number | undefined {
  return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined;
}

const BLOCK = 1000;

/** How often an order is given another number, should those that a node holds be taken: once for each batch under way. */
export const MOST_NUMBERS = 5;

/**
 * Order numbers, taken from the sequence a block at a time, so that an order's number is known before it is stored and
 * the whole answer can be written with it. What is left of a block at a restart is never used, nor what is left of one of
 * which a number turned out to be `taken`.
 */
export type NextOrderNo = (taken?: number) => Promise<number>;

export function orderNumbers(db: Queryable): NextOrderNo {
  let next = 0;
  let end = 0;
  let filling: Promise<void> | undefined;
  const fill = async () => {
    const [row] = await db.query<{ first: number }>(`select nextval('order_numbers') as first`);
    if (!row) throw new Error('a sequence has a next value');
    next = row.first;
    end = row.first + BLOCK;
  };
  return async (taken) => {
    if (taken !== undefined && taken >= end - BLOCK && taken < end) next = end;
    while (next >= end) {
      filling ??= fill().finally(() => {
        filling = undefined;
      });
      await filling;
    }
    next += 1;
    return next - 1;
  };
}
