import { refundStatuses } from '../enums.js';
import { Enum, MaybeEmptyText, Nullable, OutText, Text } from './common.js';
import { PaymentDetail } from './payments.js';
import { type Static, Type } from './type.js';

/** A refund as operators make it, to be rehearsed. */
export const PaymentsRefundRequest = Type.Object({
  paymentOrderNo: Text,
  amountCent: Type.Optional(Type.Integer({ minimum: 1 })),
  reason: Type.Optional(MaybeEmptyText),
});
export type PaymentsRefundRequest = Static<typeof PaymentsRefundRequest>;

/** The period after it. An institution may refuse a refund or take its time, which the period does not show. */
export const PaymentsRefundData = Type.Object({
  ...PaymentDetail.properties,
  refundStatus: Enum(refundStatuses),
  refundFailReason: Nullable(OutText),
});
export type PaymentsRefundData = Static<typeof PaymentsRefundData>;
