import type * as schemas from '@perennial/service/console-schemas';
import type { Static } from '@perennial/wire';
import type { Answer } from './client.ts';

/** Inputs and outputs of the operations on orders, payments and bulk runs. */

export type OrderLine = Static<typeof schemas.orders.orderLine>;
export type OrderAnswer = Answer<'GET', '/orders/{orderNo}'>;
export type TimelineEntry = OrderAnswer['timeline'][number];
export type NextStep = NonNullable<OrderAnswer['next']>;
export type WaitingRefund = OrderAnswer['waitingRefunds'][number];
export type OrderAction = OrderAnswer['actions'][number];
export type Preview = Static<typeof schemas.orders.preview>;
export type Mention = Static<typeof schemas.orders.mention>;
export type Unmasked = Static<typeof schemas.orders.unmasked>;
export type User = Static<typeof schemas.orders.userAnswer>;

export type Debit = Static<typeof schemas.payments.debitLine>;
export type RefundLine = Static<typeof schemas.payments.refundLine>;
export type FailedPayment = Static<typeof schemas.payments.failedPayment>;
export type FailedSummary = Static<typeof schemas.payments.failedSummary>;
export type BulkRequest = Static<typeof schemas.payments.bulkRequest>;
export type BulkKind = BulkRequest['kind'];
export type BulkRun = Static<typeof schemas.payments.bulkRun>;
type BulkItems = Static<typeof schemas.payments.bulkItems>;
export type BulkItem = BulkItems['items'][number];
export type Approval = Static<typeof schemas.payments.approval>;

/** An order as `perennial order show` prints it, with masked personal data. */
export type Order = OrderAnswer['order'];
export type Period = Order['payments'][number];
export type Attempt = Period['attempts'][number];
export type Benefit = Period['benefits'][number];
