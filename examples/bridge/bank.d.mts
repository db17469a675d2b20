export interface Bank {
  readonly url: string;
  /** Every booked payment and repayment. */
  readonly bookings: readonly { readonly type: string; readonly reference: string; readonly cents: number }[];
  sendWebhooksTo(url: string): void;
  stop(): Promise<void>;
}

export function startBank(options: {
  readonly port?: number;
  readonly token: string;
  /** How long a payment on a slow mandate waits. */
  readonly waitMs?: number;
}): Promise<Bank>;
