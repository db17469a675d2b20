import { type EventType, orderStatuses, paymentStatuses, periodTypes, settlementModes } from '../enums.js';
import { Cents, Count, CycleNo, Enum, Identifier, Nullable, OutText, Time } from './common.js';
import { type AnySchema, type Static, Type } from './type.js';

export const OrderPayload = Type.Object({
  orderNo: Identifier,
  externalOrderNo: OutText,
  createTime: Time,
  orderStatus: Enum(orderStatuses),
  orderSuccessTime: Nullable(Time),
  periodType: Enum(periodTypes),
  period: Type.Integer({ minimum: 1 }),
  totalCycles: CycleNo,
  totalPaidAmountCent: Cents,
  totalPaidCycles: Count,
  totalRefundAmountCent: Cents,
  latestPaymentStatus: Nullable(Enum(paymentStatuses)),
  nextPayTime: Nullable(Time),
});
export type OrderPayload = Static<typeof OrderPayload>;

const storedPaymentFields = {
  orderNo: Identifier,
  externalOrderNo: OutText,
  paymentOrderNo: Identifier,
  channelUserId: OutText,
  cycleNo: CycleNo,
  expectPayTime: Time,
  paidAt: Nullable(Time),
  amountCent: Cents,
  refundTime: Nullable(Time),
  refundAmountCent: Cents,
  paymentStatus: Enum(paymentStatuses),
  agreementShareFlag: Type.Boolean(),
};

/** The payload as stored. When the event is sent, mobileEncrypted is added, encrypted with the channel's key. */
export const StoredPaymentPayload = Type.Object(storedPaymentFields);
export type StoredPaymentPayload = Static<typeof StoredPaymentPayload>;

export const PaymentPayload = Type.Object({
  ...storedPaymentFields,
  mobileEncrypted: Nullable(OutText),
});
export type PaymentPayload = Static<typeof PaymentPayload>;

const storedUpcomingFields = {
  orderNo: Identifier,
  externalOrderNo: OutText,
  channelUserId: OutText,
  paymentOrderNo: Identifier,
  cycleNo: CycleNo,
  expectPayTime: Time,
  amountCent: Cents,
  settlementMode: Enum(settlementModes),
  agreementShareFlag: Type.Boolean(),
};

/** The payload as stored. When the event is sent, redeemUrl is added. */
export const StoredUpcomingPayload = Type.Object(storedUpcomingFields);
export type StoredUpcomingPayload = Static<typeof StoredUpcomingPayload>;

export const UpcomingPayload = Type.Object({ ...storedUpcomingFields, redeemUrl: OutText });
export type UpcomingPayload = Static<typeof UpcomingPayload>;

/** Returns the schema of a webhook body with this payload. */
export function WebhookEnvelope<const Name extends EventType, Data extends AnySchema>(eventType: Name, data: Data) {
  return Type.Object({
    eventId: OutText,
    eventType: Enum([eventType]),
    occurredAt: Time,
    retryNo: Count,
    data,
  });
}

export const OrderStatusChangedEvent = WebhookEnvelope('order.status.changed', OrderPayload);
export type OrderStatusChangedEvent = Static<typeof OrderStatusChangedEvent>;

export const PaymentStatusChangedEvent = WebhookEnvelope('payment.status.changed', PaymentPayload);
export type PaymentStatusChangedEvent = Static<typeof PaymentStatusChangedEvent>;

export const PaymentUpcomingEvent = WebhookEnvelope('payment.upcoming', UpcomingPayload);
export type PaymentUpcomingEvent = Static<typeof PaymentUpcomingEvent>;

export type WebhookEvent = OrderStatusChangedEvent | PaymentStatusChangedEvent | PaymentUpcomingEvent;

export const WEBHOOK_EVENTS = {
  'order.status.changed': OrderStatusChangedEvent,
  'payment.status.changed': PaymentStatusChangedEvent,
  'payment.upcoming': PaymentUpcomingEvent,
} as const satisfies Record<EventType, AnySchema>;

/** A channel's acknowledgement of a push. Other fields in the body are ignored. */
export const WebhookAck = Type.Object({ code: Enum(['0']) });
