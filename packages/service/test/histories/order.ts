import { formatTime } from '@perennial/wire';
import { periodDueAt } from '../../src/subscriptions/domain/orders/calendar.js';

/** The model's data of one order, and functions that depend on this data alone. Times are Unix milliseconds. */
export interface Product {
  readonly productCode: string;
  readonly periodType: 'DAY' | 'MONTH';
  readonly period: number;
  readonly totalCycles: number;
  readonly amountCent: number;
  /** Seconds. */
  readonly retryDelays: readonly number[];
  readonly benefits: readonly { readonly benefitCode: string; readonly name: string; readonly faceValueCent: number }[];
}

export type OrderStatus = 'INITIALIZING' | 'ACTIVE' | 'UNSUBSCRIBED' | 'COMPLETED' | 'TERMINATED';
export type PeriodStatus =
  | 'PROCESSING'
  | 'SUCCESS'
  | 'FAIL_RETRY'
  | 'FAIL'
  | 'BILLED'
  | 'CANCELED'
  | 'REFUND_PART'
  | 'REFUND_FULL';

export interface Benefit {
  readonly faceValueCent: number;
  readonly issuedAt: number;
  readonly revoked: boolean;
}

export interface Period {
  readonly cycleNo: number;
  readonly status: PeriodStatus;
  readonly paidAt: number | null;
  readonly refundCent: number;
  readonly refundAt: number | null;
  readonly benefits: readonly Benefit[];
}

export interface Attempt {
  readonly cycleNo: number;
  readonly tryNo: number;
  /** The index of the attempt's agreement in the order's `agreements`. */
  readonly agreement: number;
  readonly status: 'STARTED' | 'SUCCESS' | 'FAIL';
  /** After a failure on a former agreement: true if the retry still waits for its scheduled time. */
  readonly retryBySchedule: boolean;
}

export interface Refund {
  readonly cycleNo: number;
  readonly refundSeq: number;
  readonly amountCent: number;
  readonly status: 'STARTED' | 'SUCCESS' | 'FAIL';
}

/** An agreement: its payment channel, and the number that the institution gave it. */
export interface Agreement {
  readonly paymentChannelCode: string;
  readonly institutionNo: string;
}

export interface OrderModel {
  readonly product: Product;
  readonly mode: 'A1' | 'A2' | 'B';
  readonly createdAt: number;
  readonly status: OrderStatus;
  readonly successAt: number | null;
  readonly unsubscribedAt: number | null;
  /** The time at which the engine does the order's next step. Null if there is none. */
  readonly nextDueAt: number | null;
  readonly periods: readonly Period[];
  readonly attempts: readonly Attempt[];
  readonly refunds: readonly Refund[];
  /** All agreements, oldest first. The last is the current one. */
  readonly agreements: readonly Agreement[];
  /** One line per event, in the order in which they are sent. */
  readonly told: readonly string[];
}

const PAID: readonly PeriodStatus[] = ['SUCCESS', 'REFUND_PART', 'REFUND_FULL', 'BILLED'];

export const cycleOf = (order: OrderModel) => order.periods.length;
export const lastPeriod = (order: OrderModel): Period => required(order.periods.at(-1));
export const paidPeriods = (order: OrderModel) => order.periods.filter(({ status }) => PAID.includes(status));
export const openAttempt = (order: OrderModel) => order.attempts.find(({ status }) => status === 'STARTED');
export const dueOf = (order: OrderModel, cycleNo: number) => periodDueAt(order.createdAt, order.product, cycleNo);
export const currentAgreement = (order: OrderModel) => order.agreements.length - 1;
export const nameOf = ({ paymentChannelCode, institutionNo }: Agreement) => `${paymentChannelCode} ${institutionNo}`;
/** Returns the name of the order's current agreement (payment channel and number), or undefined in mode B. */
export const runsOn = ({ agreements }: OrderModel) => agreements.map(nameOf).at(-1);
export const refundedCent = (order: OrderModel) => order.periods.reduce((sum, { refundCent }) => sum + refundCent, 0);

/** Returns the time of a failed period's retry, or else of the next period. Returns null if neither is to come. */
export function nextPayTime(order: OrderModel): string | null {
  if (order.status !== 'ACTIVE') return null;
  if (lastPeriod(order).status === 'FAIL_RETRY') return formatTime(required(order.nextDueAt));
  const next = cycleOf(order) + 1;
  return next > order.product.totalCycles ? null : formatTime(dueOf(order, next));
}

export function required<T>(value: T | undefined | null): T {
  if (value === undefined || value === null) throw new Error('the model has taken a step that it cannot take');
  return value;
}
