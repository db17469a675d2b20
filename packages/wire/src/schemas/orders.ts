import { cycleTypes, orderStatuses, periodTypes, settlementModes } from '../enums.js';
import {
  Cents,
  CycleNo,
  Encrypted,
  Enum,
  Identifier,
  MaybeEmptyText,
  Nullable,
  OutText,
  pageFields,
  pagingFields,
  Text,
  Time,
} from './common.js';
import { orderReferenceFields } from './order-reference.js';
import { PaymentRecord } from './payments.js';
import { SharedAgreement } from './shared-agreement.js';
import { type Static, Type } from './type.js';

export const MainOrder = Type.Object({
  orderNo: Identifier,
  externalOrderNo: OutText,
  createTime: Time,
  orderStatus: Enum(orderStatuses),
  orderSuccessTime: Nullable(Time),
  periodType: Enum(periodTypes),
  period: Type.Integer({ minimum: 1 }),
  totalCycles: CycleNo,
  totalPaidAmountCent: Cents,
  totalRefundAmountCent: Cents,
  nextPayTime: Nullable(Time),
  unsubscribeTime: Nullable(Time),
  /** Has no length limit, because percent-encoding can make a channelUserId longer than any text field. */
  redeemUrl: Nullable(Type.String()),
  paymentRecords: Type.Array(PaymentRecord),
});
export type MainOrder = Static<typeof MainOrder>;

export const OrdersCreateRequest = Type.Object({
  settlementMode: Enum(settlementModes),
  externalOrderNo: Text,
  productCode: Text,
  bindOrderNo: Type.Optional(Text),
  sharedAgreement: Type.Optional(SharedAgreement),
  /** Used only in mode B (CHANNEL_COLLECT), whose checks allow a text or null. Mode A ignores any value. */
  channelAgreementRef: Type.Optional(Type.Unsafe<string>({})),
  channelUserId: Type.Optional(Text),
  mobileEncrypted: Type.Optional(Encrypted),
  /**
   * The schema does not list valid values of periodType, period and totalCycles: a value that differs from the
   * product's value is refused with the code for a cycle mismatch.
   */
  periodType: Type.Optional(MaybeEmptyText),
  period: Type.Optional(Type.Integer()),
  totalCycles: Type.Optional(Type.Integer()),
});
export type OrdersCreateRequest = Static<typeof OrdersCreateRequest>;

export const OrdersQueryRequest = Type.Object(orderReferenceFields);

export const OrdersListRequest = Type.Object({
  channelUserId: Text,
  cycleType: Type.Optional(Enum(cycleTypes)),
  ...pagingFields,
});
export type OrdersListRequest = Static<typeof OrdersListRequest>;

export const OrdersListData = Type.Object({ orders: Type.Array(MainOrder), ...pageFields });
export type OrdersListData = Static<typeof OrdersListData>;

export const OrdersUnsubscribeRequest = Type.Object({
  ...orderReferenceFields,
  reason: Type.Optional(MaybeEmptyText),
});
export type OrdersUnsubscribeRequest = Static<typeof OrdersUnsubscribeRequest>;
