import type { CatalogProduct } from '../../../catalog/products/catalog.js';
import type { Answer } from '../../../platform/answers/answer.js';
import type { IdempotentRow } from '../../../platform/idempotency/run-once.js';
import { expiryOf } from '../../domain/benefits/policy.js';
import { nextStepAt } from '../../domain/orders/calendar.js';
import type { Order, Payment } from '../../domain/orders/order.js';
import { type OrderTrigger, orderStep } from '../../domain/orders/states.js';
import { paymentStep } from '../../domain/payments/states.js';
import { type NewEvent, orderChanged, paymentChanged } from '../../store/events/outbox.js';
import type { IdempotencyInsert, NewOrderRow } from '../../store/orders/new-order-sql.js';

export interface OrderIdentity {
  readonly orderNo: number;
  readonly channelId: number;
  readonly externalOrderNo: string;
  readonly channelUserId: string;
}

export interface NewOrder {
  readonly order: Order;
  readonly payment: Payment;
  readonly events: readonly NewEvent[];
}

/** Times are shown in whole seconds, so they are kept in whole seconds. */
const wholeSecond = (now: number) => Math.floor(now / 1000) * 1000;

/** Mode B: active and billed from its first moment. */
export function collectedOrder(
  identity: OrderIdentity,
  product: CatalogProduct,
  now: number,
): NewOrder & { readonly benefitsExpireAt: string } {
  const createdAt = wholeSecond(now);
  const billed = paymentStep('none', 'billed');
  const active = orderStep('none', 'create-collect');
  const payment = firstPayment(product, createdAt, billed.to, createdAt);
  const order: Order = {
    ...blankOrder(identity, product, 'create-collect', createdAt),
    successAt: createdAt,
    paidCycles: 1,
    paidAmountCent: product.amountCent,
    latestPaymentStatus: payment.status,
    nextDueAt: nextStepAt({ ...product, createdAt }),
  };
  const events = [
    ...(billed.emitsEvent ? [paymentChanged(order, payment)] : []),
    ...(active.emitsEvent ? [orderChanged(order)] : []),
  ];
  return { order, payment, events, benefitsExpireAt: iso(expiryOf(createdAt)) };
}

/** Mode A: written down before the institution is called. */
export function deductedOrder(
  identity: OrderIdentity,
  product: CatalogProduct,
  agreement: { readonly agreementId: number; readonly shared: boolean },
  now: number,
): NewOrder {
  const createdAt = wholeSecond(now);
  const started = paymentStep('none', 'first-debit-started');
  const payment = firstPayment(product, createdAt, started.to, null);
  const order: Order = {
    ...blankOrder(identity, product, 'create-deduct', createdAt),
    ...agreement,
    latestPaymentStatus: payment.status,
  };
  return { order, payment, events: [] };
}

function blankOrder(identity: OrderIdentity, product: CatalogProduct, on: OrderTrigger, createdAt: number): Order {
  return {
    // Written out: spreading it made V8 build the object the slow way, at 40 microseconds an order.
    orderNo: identity.orderNo,
    channelId: identity.channelId,
    externalOrderNo: identity.externalOrderNo,
    channelUserId: identity.channelUserId,
    productCode: product.productCode,
    settlementMode: on === 'create-collect' ? 'CHANNEL_COLLECT' : 'SVC_DEDUCT',
    status: orderStep('none', on).to,
    periodType: product.periodType,
    period: product.period,
    totalCycles: product.totalCycles,
    amountCent: product.amountCent,
    createdAt,
    successAt: null,
    unsubscribedAt: null,
    cycleNo: 1,
    nextDueAt: null,
    paidCycles: 0,
    paidAmountCent: 0,
    refundAmountCent: 0,
    latestPaymentStatus: null,
    agreementId: null,
    shared: false,
  };
}

function firstPayment(product: CatalogProduct, at: number, status: Payment['status'], paidAt: number | null): Payment {
  return {
    cycleNo: 1,
    status,
    expectAt: at,
    paidAt,
    amountCent: product.amountCent,
    refundAmountCent: 0,
    refundAt: null,
  };
}

/** As the gathered insert takes it; what not every order has is added by the caller. */
export function newOrderRow(order: Order, payment: Payment, events: readonly NewEvent[]): NewOrderRow {
  return {
    order_no: order.orderNo,
    channel_id: order.channelId,
    external_order_no: order.externalOrderNo,
    channel_user_id: order.channelUserId,
    mobile_hash: null,
    mobile: null,
    product_code: order.productCode,
    settlement_mode: order.settlementMode,
    status: order.status,
    period_type: order.periodType,
    period: order.period,
    total_cycles: order.totalCycles,
    amount_cent: order.amountCent,
    created_at: iso(order.createdAt),
    success_at: isoOrNull(order.successAt),
    next_due_at: isoOrNull(order.nextDueAt),
    paid_cycles: order.paidCycles,
    paid_amount_cent: order.paidAmountCent,
    latest_payment_status: payment.status,
    agreement_id: order.agreementId,
    shared: order.shared,
    channel_agreement_ref: null,
    payment_status: payment.status,
    paid_at: isoOrNull(payment.paidAt),
    payment_channel_code: null,
    ask_after_seconds: null,
    agreement: null,
    exclusive_number: null,
    benefits: [],
    benefits_expire_at: null,
    events,
    idempotency: null,
  };
}

type Recorded =
  | { readonly state: 'DESCRIBED'; readonly answer: Answer }
  | { readonly state: 'RUNNING'; readonly subject: string };

export function idempotencyRow(row: IdempotentRow | undefined, recorded: Recorded): IdempotencyInsert | null {
  if (!row) return null;
  const answer = recorded.state === 'DESCRIBED' ? recorded.answer : undefined;
  if (answer && !('description' in answer)) throw new Error('the answer to a creation is not described');
  return {
    key: row.key,
    path: row.path,
    body_sha256: row.bodySha256.toString('hex'),
    owner: row.owner,
    state: recorded.state,
    lease_seconds: recorded.state === 'RUNNING' ? row.leaseSeconds : null,
    subject: recorded.state === 'RUNNING' ? recorded.subject : null,
    code: answer?.code ?? null,
    message: answer?.message ?? null,
    data: answer?.description ?? null,
  };
}

const iso = (at: number) => new Date(at).toISOString();
const isoOrNull = (at: number | null) => (at === null ? null : iso(at));
