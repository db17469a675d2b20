import { refundStatuses } from '../enums.js';
import { Enum, MaybeEmptyText, Nullable, OutText, Text } from './common.js';
import { PaymentDetail } from './payments.js';
import { type Static, Type } from './type.js';

/** A rehearsed refund, as operators make it. */
export const PaymentsRefundRequest = Type.Object({
  paymentOrderNo: Text,
  amountCent: Type.Optional(Type.Integer({ minimum: 1 })),
  reason: Type.Optional(MaybeEmptyText),
});
export type PaymentsRefundRequest = Static<typeof PaymentsRefundRequest>;

/**
 * The period after the refund. `refundStatus` is separate, because the period's own status shows only successful
 * refunds.
 */
export const PaymentsRefundData = Type.Object({
  ...PaymentDetail.properties,
  refundStatus: Enum(refundStatuses),
  refundFailReason: Nullable(OutText),
});
export type PaymentsRefundData = Static<typeof PaymentsRefundData>;
