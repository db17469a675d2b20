import { MaybeEmptyText, Text } from './common.js';
import { type Static, Type } from './type.js';

/** A refund as operators make it, to be rehearsed. */
export const PaymentsRefundRequest = Type.Object({
  paymentOrderNo: Text,
  /** Absent: all that is left. */
  amountCent: Type.Optional(Type.Integer({ minimum: 1 })),
  reason: Type.Optional(MaybeEmptyText),
});
export type PaymentsRefundRequest = Static<typeof PaymentsRefundRequest>;
