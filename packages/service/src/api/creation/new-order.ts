import type { CatalogProduct } from '../../catalog/products/catalog.js';
import type { Answer, DescribedAnswer } from '../../platform/answers/answer.js';
import { isoTime, isoTimeOrNull } from '../../platform/db/time-sql.js';
import type { IdempotentRow } from '../../platform/idempotency/run-once.js';
import { benefitExpiresAt } from '../../subscriptions/domain/benefits/benefit-expiry.js';
import { dueAfterFirstPeriod } from '../../subscriptions/domain/orders/calendar.js';
import type { Order, Payment } from '../../subscriptions/domain/orders/order.js';
import { type OrderTrigger, requireOrderTransition } from '../../subscriptions/domain/orders/order-states.js';
import { FIRST_ASK_SECONDS } from '../../subscriptions/domain/payments/debit-policy.js';
import { requirePaymentTransition } from '../../subscriptions/domain/payments/payment-states.js';
import { type NewEvent, orderChangedEvent, paymentChangedEvent } from '../../subscriptions/store/events/outbox.js';
import type {
  AgreementInsert,
  IdempotencyInsert,
  OrderInsert,
} from '../../subscriptions/store/orders/new-orders-sql.js';
import type { OwedAnswer } from '../../subscriptions/store/payments/settle-known-debits-sql.js';

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

/** Truncates to seconds, because times are shown in seconds. */
const toWholeSeconds = (now: number) => Math.floor(now / 1000) * 1000;

/** Returns a new order in mode B, which is active and billed at once. */
export function newCollectedOrder(
  identity: OrderIdentity,
  product: CatalogProduct,
  now: number,
): NewOrder & { readonly benefitsExpireAt: string } {
  const createdAt = toWholeSeconds(now);
  const billed = requirePaymentTransition('none', 'billed');
  const active = requireOrderTransition('none', 'create-collect');
  const payment = newFirstPayment(product, createdAt, billed.to, createdAt);
  const order: Order = {
    ...newOrder(identity, product, 'create-collect', payment),
    successAt: createdAt,
    paidCycles: 1,
    paidAmountCent: product.amountCent,
    nextDueAt: dueAfterFirstPeriod({ ...product, createdAt }),
  };
  const events = [
    ...(billed.emitsEvent ? [paymentChangedEvent(order, payment)] : []),
    ...(active.emitsEvent ? [orderChangedEvent(order)] : []),
  ];
  return { order, payment, events, benefitsExpireAt: isoTime(benefitExpiresAt(createdAt)) };
}

/** Returns a new order in mode A, which is stored before the institution is called. */
export function newDeductedOrder(
  identity: OrderIdentity,
  product: CatalogProduct,
  agreement: UsedAgreement,
  now: number,
): NewOrder {
  const createdAt = toWholeSeconds(now);
  const started = requirePaymentTransition('none', 'first-debit-started');
  const payment = newFirstPayment(product, createdAt, started.to, null);
  return { order: newOrder(identity, product, 'create-deduct', payment, agreement), payment, events: [] };
}

interface UsedAgreement {
  readonly agreementId: number | null;
  readonly shared: boolean;
}
const NO_AGREEMENT: UsedAgreement = { agreementId: null, shared: false };

function newOrder(
  identity: OrderIdentity,
  product: CatalogProduct,
  on: OrderTrigger,
  firstPayment: Payment,
  agreement = NO_AGREEMENT,
): Order {
  return {
    // Lists the fields, because V8 took 40 microseconds to build the object with a spread of `identity`.
    orderNo: identity.orderNo,
    channelId: identity.channelId,
    externalOrderNo: identity.externalOrderNo,
    channelUserId: identity.channelUserId,
    productCode: product.productCode,
    settlementMode: on === 'create-collect' ? 'CHANNEL_COLLECT' : 'SVC_DEDUCT',
    status: requireOrderTransition('none', on).to,
    periodType: product.periodType,
    period: product.period,
    totalCycles: product.totalCycles,
    amountCent: product.amountCent,
    createdAt: firstPayment.expectAt,
    successAt: null,
    unsubscribedAt: null,
    cycleNo: 1,
    nextDueAt: null,
    paidCycles: 0,
    paidAmountCent: 0,
    refundAmountCent: 0,
    latestPaymentStatus: firstPayment.status,
    agreementId: agreement.agreementId,
    shared: agreement.shared,
  };
}

function newFirstPayment(
  product: CatalogProduct,
  at: number,
  status: Payment['status'],
  paidAt: number | null,
): Payment {
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

/** Values that are stored with an order but are not part of it. */
export interface OrderTerms {
  /** Login mobile to bind, with its hash in hex. Undefined if the agreement identifies the user. */
  readonly mobile: { readonly hash: string; readonly sealed: string } | undefined;
  readonly channelAgreementRef: string | undefined;
  readonly noticeDays: number | undefined;
  readonly benefitsExpireAt: string | undefined;
  readonly debit: FirstDebit | undefined;
}

/** Whom to ask for the first debit in mode A: the payment channel and the agreement. */
interface FirstDebit {
  readonly paymentChannelCode: string;
  readonly agreement: AgreementInsert | null;
  readonly exclusiveNumber: Buffer | undefined;
}

export function toOrderInsert(order: Order, payment: Payment, terms: OrderTerms): OrderInsert {
  const { mobile, debit } = terms;
  return {
    order_no: order.orderNo,
    channel_id: order.channelId,
    external_order_no: order.externalOrderNo,
    channel_user_id: order.channelUserId,
    mobile_hash: mobile?.hash ?? null,
    mobile: mobile?.sealed ?? null,
    product_code: order.productCode,
    settlement_mode: order.settlementMode,
    status: order.status,
    period_type: order.periodType,
    period: order.period,
    total_cycles: order.totalCycles,
    amount_cent: order.amountCent,
    created_at: isoTime(order.createdAt),
    success_at: isoTimeOrNull(order.successAt),
    next_due_at: isoTimeOrNull(order.nextDueAt),
    paid_cycles: order.paidCycles,
    paid_amount_cent: order.paidAmountCent,
    latest_payment_status: payment.status,
    agreement_id: order.agreementId,
    shared: order.shared,
    channel_agreement_ref: terms.channelAgreementRef ?? null,
    notice_days: terms.noticeDays ?? null,
    payment_status: payment.status,
    paid_at: isoTimeOrNull(payment.paidAt),
    payment_channel_code: debit?.paymentChannelCode ?? null,
    ask_after_seconds: debit ? FIRST_ASK_SECONDS : null,
    agreement: debit?.agreement ?? null,
    exclusive_number: debit?.exclusiveNumber?.toString('hex') ?? null,
    benefits_expire_at: terms.benefitsExpireAt ?? null,
  };
}

type RecordedAnswer =
  | { readonly state: 'DESCRIBED'; readonly answer: Answer }
  | { readonly state: 'RUNNING'; readonly subject: string };

export function toIdempotencyInsert(
  row: IdempotentRow | undefined,
  recorded: RecordedAnswer,
): IdempotencyInsert | null {
  if (!row) return null;
  const answer = recorded.state === 'DESCRIBED' ? requireDescribed(recorded.answer) : undefined;
  return {
    key: row.key,
    path: row.path,
    body_sha256: row.bodySha256.toString('hex'),
    meaning: row.meaning()?.toString('hex') ?? null,
    owner: row.owner,
    state: recorded.state,
    lease_seconds: recorded.state === 'RUNNING' ? row.leaseSeconds : null,
    subject: recorded.state === 'RUNNING' ? recorded.subject : null,
    code: answer?.code ?? null,
    message: answer?.message ?? null,
    data: answer?.description ?? null,
  };
}

/** Returns the answer that settlement stores for a creation's idempotency key. */
export function toOwedAnswer(row: IdempotentRow | undefined, answer: Answer): OwedAnswer | null {
  if (!row) return null;
  const { code, message, description } = requireDescribed(answer);
  return { key: row.key, owner: row.owner, code, message, description };
}

function requireDescribed(answer: Answer): DescribedAnswer {
  if (!('description' in answer)) throw new Error('the answer to a creation is not described');
  return answer;
}
