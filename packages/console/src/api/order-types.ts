import type * as schemas from '@perennial/service/console-schemas';
import type { Static } from '@perennial/wire';

/** What the operations about orders, payments and those that act on many take and answer. */

export type Orders = Static<typeof schemas.orders.ordersAnswer>;
export type OrderLine = Static<typeof schemas.orders.orderLine>;
export type OrdersTotals = Static<typeof schemas.orders.ordersTotals>;
export type SettlementMode = OrderLine['settlementMode'];
export type OrderAnswer = Omit<Static<typeof schemas.orders.orderAnswer>, 'order'> & { readonly order: Order };
export type TimelineEntry = OrderAnswer['timeline'][number];
export type NextStep = NonNullable<OrderAnswer['next']>;
export type WaitingRefund = OrderAnswer['waitingRefunds'][number];
export type OrderAction = OrderAnswer['actions'][number];
export type Preview = Static<typeof schemas.orders.preview>;
export type RefundRequest = Static<typeof schemas.orders.refundRequest>;
export type RefundAnswer = Static<typeof schemas.orders.refundAnswer>;
export type Unmasked = Static<typeof schemas.orders.unmasked>;
export type User = Static<typeof schemas.orders.userAnswer>;

export type FailedPayments = Static<typeof schemas.payments.failedAnswer>;
export type FailedPayment = Static<typeof schemas.payments.failedPayment>;
export type FailedSummary = Static<typeof schemas.payments.failedSummary>;
export type BulkRequest = Static<typeof schemas.payments.bulkRequest>;
export type BulkKind = BulkRequest['kind'];
export type BulkRun = Static<typeof schemas.payments.bulkRun>;
export type BulkRuns = Static<typeof schemas.payments.bulkRuns>;
export type BulkItems = Static<typeof schemas.payments.bulkItems>;
export type BulkItem = BulkItems['items'][number];
export type Approvals = Static<typeof schemas.payments.approvals>;
export type Approval = Static<typeof schemas.payments.approval>;

/** An order as `npx perennial order show` has it, as far as the pages read it. */
export interface Order {
  readonly orderNo: string;
  readonly externalOrderNo: string;
  readonly appId: string;
  readonly channelUserId: string;
  readonly productCode: string;
  readonly settlementMode: SettlementMode;
  readonly orderStatus: OrderLine['orderStatus'];
  readonly periodType: 'DAY' | 'MONTH';
  readonly period: number;
  readonly totalCycles: number;
  readonly amountCent: number;
  readonly totalPaidAmountCent: number;
  readonly totalRefundAmountCent: number;
  readonly createTime: string;
  readonly orderSuccessTime: string | null;
  readonly nextPayTime: string | null;
  readonly unsubscribeTime: string | null;
  readonly unsubscribeSource: string | null;
  readonly unsubscribeReason: string | null;
  readonly channelAgreementRef: string | null;
  readonly agreement: Agreement | null;
  readonly payments: readonly Period[];
}

export interface Agreement {
  readonly agreementNo: string;
  readonly agreementStatus: string;
  readonly agreementSource: string;
  readonly paymentChannelCode: string;
  readonly bankCode: string | null;
  readonly bankCardTailNo: string;
  readonly createTime: string;
  /** The institution is still to be told that it has ended. */
  readonly cancelPending: boolean;
}

export interface Period {
  readonly paymentOrderNo: string;
  readonly cycleNo: number;
  readonly paymentStatus: string;
  readonly expectPayTime: string;
  readonly paidAt: string | null;
  readonly amountCent: number;
  readonly refundAmountCent: number;
  readonly attempts: readonly Attempt[];
  readonly refunds: readonly Refund[];
  readonly benefits: readonly Benefit[];
}

export interface Refund {
  /** STARTED: it was sent to the institution and has no result yet. */
  readonly status: string;
  readonly amountCent: number;
}

export interface Attempt {
  readonly tryNo: number;
  readonly status: string;
  /** The institution's own words. */
  readonly reason: string | null;
}

export interface Benefit {
  readonly cycleNo: number;
  readonly benefitCode: string;
  readonly name: string;
  readonly faceValueCent: number;
  readonly status: string;
  readonly issuedAt: string;
  readonly expiresAt: string;
  readonly claimNo: string | null;
  readonly claimedAt: string | null;
  readonly codeStatus: string | null;
}
