import { refundStatuses } from '../enums.js';
import { Enum, MaybeEmptyText, Nullable, OutText, Text } from './common.js';
import { PaymentDetail } from './payments.js';
import { type Static, Type } from './type.js';

/** A refund in the sandbox, which has the effects of an operator's refund. */
export const PaymentsRefundRequest = Type.Object({
  paymentOrderNo: Text,
  amountCent: Type.Optional(Type.Integer({ minimum: 1 })),
  reason: Type.Optional(MaybeEmptyText),
});
export type PaymentsRefundRequest = Static<typeof PaymentsRefundRequest>;

/** The period after the refund, and the refund's own status: the period's status shows only successful refunds. */
export const PaymentsRefundData = Type.Object({
  ...PaymentDetail.properties,
  refundStatus: Enum(refundStatuses),
  refundFailReason: Nullable(OutText),
});
export type PaymentsRefundData = Static<typeof PaymentsRefundData>;
