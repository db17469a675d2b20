import { paymentStatuses } from '../enums.js';
import { Cents, CycleNo, Enum, Identifier, Nullable, OutText, Text, Time } from './common.js';
import { type Static, Type } from './type.js';

export const PaymentRecord = Type.Object({
  paymentOrderNo: Identifier,
  cycleNo: CycleNo,
  expectPayTime: Time,
  paidAt: Nullable(Time),
  amountCent: Cents,
  refundAmountCent: Cents,
  paymentStatus: Enum(paymentStatuses),
});
export type PaymentRecord = Static<typeof PaymentRecord>;

export const ClaimRecord = Type.Object({
  claimNo: OutText,
  benefitCode: OutText,
  benefitName: OutText,
  faceValueCent: Cents,
  claimedAt: Time,
});

export const PaymentsQueryRequest = Type.Object({ paymentOrderNo: Text });
export type PaymentsQueryRequest = Static<typeof PaymentsQueryRequest>;

export const PaymentDetail = Type.Object({
  paymentOrderNo: Identifier,
  orderNo: Identifier,
  externalOrderNo: OutText,
  cycleNo: CycleNo,
  expectPayTime: Time,
  paidAt: Nullable(Time),
  amountCent: Cents,
  usedAmountCent: Cents,
  refundTime: Nullable(Time),
  refundAmountCent: Cents,
  paymentStatus: Enum(paymentStatuses),
  claimRecords: Type.Array(ClaimRecord),
});
export type PaymentDetail = Static<typeof PaymentDetail>;
