export const settlementModes = ['SVC_DEDUCT', 'CHANNEL_COLLECT'] as const;
export type SettlementMode = (typeof settlementModes)[number];

export const orderStatuses = ['INITIALIZING', 'ACTIVE', 'UNSUBSCRIBED', 'COMPLETED', 'TERMINATED'] as const;
export type OrderStatus = (typeof orderStatuses)[number];

export const paymentStatuses = [
  'WAIT',
  'PROCESSING',
  'SUCCESS',
  'FAIL_RETRY',
  'FAIL',
  'BILLED',
  'CANCELED',
  'REFUND_PART',
  'REFUND_FULL',
] as const;
export type PaymentStatus = (typeof paymentStatuses)[number];

export const refundStatuses = ['PROCESSING', 'SUCCESS', 'FAIL'] as const;
export type RefundStatus = (typeof refundStatuses)[number];

export const agreementStatuses = ['BIND_ING', 'BIND_SUCCESS', 'BIND_FAIL', 'CANCELED', 'REPLACED'] as const;
export type AgreementStatus = (typeof agreementStatuses)[number];

export const agreementSources = ['SELF_BINDING', 'SHARED_FROM_CHANNEL'] as const;
export type AgreementSource = (typeof agreementSources)[number];

export const smsStatuses = ['SEND_SUCCESS', 'SEND_FAIL'] as const;
export type SmsStatus = (typeof smsStatuses)[number];

/** MONTH is a calendar month, not a fixed number of days. */
export const periodTypes = ['DAY', 'MONTH'] as const;
export type PeriodType = (typeof periodTypes)[number];

export const cycleTypes = ['SINGLE', 'MULTIPLE'] as const;
export type CycleType = (typeof cycleTypes)[number];

export const eventTypes = ['order.status.changed', 'payment.status.changed', 'payment.upcoming'] as const;
export type EventType = (typeof eventTypes)[number];

/**
 * The kinds into which the declines of all institutions are sorted. Bridges name the kind of a decline. The service
 * derives it from the reason if a bridge does not (`deriveDeclineKind`).
 */
export const declineKinds = [
  'INSUFFICIENT_FUNDS',
  /** A limit of the card, the account or the agreement is used up. */
  'LIMIT_EXCEEDED',
  'CARD_EXPIRED',
  /** The card was reported lost or stolen, or is to be picked up. */
  'CARD_LOST',
  /** The account is closed or frozen, or does not exist. */
  'ACCOUNT_CLOSED',
  /** The user or the institution has ended the consent to debits. */
  'AGREEMENT_ENDED',
  'WRONG_DETAILS',
  'SUSPECTED_FRAUD',
  /** The institution does not allow such a payment, or would need the user's presence. */
  'NOT_PERMITTED',
  'INSTITUTION_UNAVAILABLE',
  /** An error of the institution, or of the operator's account or settings at the institution. */
  'TECHNICAL',
  'OTHER',
] as const;
export type DeclineKind = (typeof declineKinds)[number];

/** Delivery states of an event. NO_CALLBACK: the channel had no callback URL. */
export const deliveryStatuses = ['PENDING', 'DELIVERED', 'GIVE_UP', 'NO_CALLBACK'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** The outcomes that a sandbox call can set for a period. */
export const rehearsedOutcomes = [
  'SUCCESS',
  'FAIL_RETRY',
  'RETRY_MISSED',
  'FAIL',
  'PENDING',
  'AGREEMENT_INVALID',
] as const;
export type RehearsedOutcome = (typeof rehearsedOutcomes)[number];

export const grantTypes = ['client_credentials'] as const;
export type GrantType = (typeof grantTypes)[number];

/** The versions of encrypted fields. Their prefixes contain these names. */
export const encryptionVersions = ['v1', 'v2'] as const;
export type EncryptionVersion = (typeof encryptionVersions)[number];

/** A default, not an enum: the interface names only ID_CARD, but accepts any document type. */
export const DEFAULT_CERT_TYPE = 'ID_CARD';

/** The entry in supportedBanks that means every bank. */
export const ANY_BANK = '*';
