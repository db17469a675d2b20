/** Returns orderNo × 10,000 + cycleNo. As text, because the number may exceed 2^53. */
export function formatPaymentOrderNo(orderNo: number | string, cycleNo: number): string {
  return `${orderNo}${String(cycleNo).padStart(4, '0')}`;
}

/** Returns the attempt number of one attempt to debit a period. It is the idempotency key at the institution. */
export function formatAttemptNo(orderNo: number, cycleNo: number, tryNo: number): string {
  return `${formatPaymentOrderNo(orderNo, cycleNo)}${String(tryNo).padStart(2, '0')}`;
}

export interface PaymentReference {
  readonly orderNo: number;
  readonly cycleNo: number;
}

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

export function parseOrderNo(text: string): number | undefined {
  return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined;
}
