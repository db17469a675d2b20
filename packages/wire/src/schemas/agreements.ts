import { agreementStatuses, DEFAULT_CERT_TYPE, paymentStatuses, smsStatuses } from '../enums.js';
import { Rejection } from '../rejection.js';
import {
  CycleNo,
  Encrypted,
  Enum,
  Identifier,
  MaybeEmptyText,
  Nullable,
  OutText,
  pageFields,
  pagingChecks,
  pagingFields,
  Text,
} from './common.js';
import { orderReferenceFields } from './order-reference.js';
import { SharedAgreement } from './shared-agreement.js';
import { type Static, Type } from './type.js';

export const BindSmsRequest = Type.Object({
  channelUserId: Text,
  paymentChannelCode: Type.Optional(Text),
  bankCode: Type.Optional(Text),
  mobileEncrypted: Encrypted,
  bankCardNoEncrypted: Encrypted,
  certificateNoEncrypted: Encrypted,
  realNameEncrypted: Encrypted,
  bankMobileEncrypted: Encrypted,
  certType: Type.Optional(Type.String({ ...Text, default: DEFAULT_CERT_TYPE })),
  /** An empty text is the same as none: the binding is for any product. */
  productCode: Type.Optional(MaybeEmptyText),
  bindOrderNo: Type.Optional(Text),
});
export type BindSmsRequest = Static<typeof BindSmsRequest>;

export const BindSmsData = Type.Object({
  bindOrderNo: Identifier,
  paymentChannelCode: OutText,
  agreementStatus: Enum(agreementStatuses),
  smsStatus: Enum(smsStatuses),
  failReason: Type.Optional(OutText),
});
export type BindSmsData = Static<typeof BindSmsData>;

export const BindConfirmRequest = Type.Object({
  bindOrderNo: Text,
  smsCodeEncrypted: Encrypted,
});
export type BindConfirmRequest = Static<typeof BindConfirmRequest>;

export const BindConfirmData = Type.Object({
  agreementNo: Nullable(OutText),
  agreementStatus: Enum(agreementStatuses),
  bankCardTailNo: OutText,
  failReason: Type.Optional(OutText),
  /** Present and true only if the binding is still open after BIND_FAIL. */
  codeRetryable: Type.Optional(Type.Boolean()),
});
export type BindConfirmData = Static<typeof BindConfirmData>;

export const UserDataRequest = Type.Object({
  channelUserId: Type.Optional(Text),
  bankCardNoEncrypted: Type.Optional(Encrypted),
  certificateNoEncrypted: Type.Optional(Encrypted),
  ...pagingFields,
});
export type UserDataRequest = Static<typeof UserDataRequest>;

export function userDataChecks(body: UserDataRequest): void {
  const filters = [body.channelUserId, body.bankCardNoEncrypted, body.certificateNoEncrypted];
  if (filters.every((filter) => filter === undefined)) {
    throw new Rejection(
      'PARAM_INVALID',
      'one of channelUserId, bankCardNoEncrypted, certificateNoEncrypted is required',
    );
  }
  pagingChecks(body);
}

export const BankData = Type.Object({
  bindOrderNo: Nullable(Identifier),
  agreementNo: OutText,
  bankCardNoEncrypted: OutText,
  certificateNoEncrypted: OutText,
  realNameEncrypted: OutText,
  bankMobileEncrypted: OutText,
  agreementStatus: Enum(agreementStatuses),
});
export type BankData = Static<typeof BankData>;

export const UserDataData = Type.Object({ bankDataList: Type.Array(BankData), ...pageFields });
export type UserDataData = Static<typeof UserDataData>;

export const ReplaceRequest = Type.Object({
  ...orderReferenceFields,
  newSharedAgreement: SharedAgreement,
  retryFailedNow: Type.Optional(Type.Boolean({ default: true })),
});
export type ReplaceRequest = Static<typeof ReplaceRequest>;

export const AffectedPayment = Type.Object({
  paymentOrderNo: Identifier,
  cycleNo: CycleNo,
  previousStatus: Enum(paymentStatuses),
});

export const RetriedPayment = Type.Object({
  paymentOrderNo: Identifier,
  cycleNo: CycleNo,
  newStatus: Enum(paymentStatuses),
});
export type RetriedPayment = Static<typeof RetriedPayment>;

export const ReplaceData = Type.Object({
  orderNo: Identifier,
  oldAgreementNo: OutText,
  newAgreementNo: OutText,
  paymentChannelCode: OutText,
  affectedPayments: Type.Array(AffectedPayment),
  retriedNow: Type.Array(RetriedPayment),
});
export type ReplaceData = Static<typeof ReplaceData>;
