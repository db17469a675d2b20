import type { DeclineKind } from '../enums.js';

export const OPERATIONS = [
  'bind-code',
  'bind-confirm',
  'debit',
  'debit-query',
  'refund',
  'refund-query',
  'agreement-cancel',
  'statement',
  'handshake',
] as const;
export type Operation = (typeof OPERATIONS)[number];

export const KEY_BYTES = 32;
/** The size limit for every request, response and notice, except for a page of a statement. */
export const MAX_MESSAGE_BYTES = 65_536;
export const MAX_STATEMENT_BYTES = 1_048_576;
/**
 * The maximum number of lines of a statement page. Even with the longest numbers, a page stays below
 * MAX_STATEMENT_BYTES.
 */
export const STATEMENT_PAGE_LINES = 1000;

/** Reasons for declining a debit. */
export const DECLINES = ['RETRYABLE', 'FINAL', 'AGREEMENT_INVALID'] as const;
export type WireDecline = (typeof DECLINES)[number];

/** The state of a debit, in responses and in notices. */
export type DebitMessage =
  | {
      readonly attemptNo: string;
      readonly status: 'SUCCESS';
      readonly amountCent: number;
      readonly paidAt: number;
      readonly institutionRef: string;
    }
  | {
      readonly attemptNo: string;
      readonly status: 'DECLINED';
      readonly decline: WireDecline;
      /** Older bridges do not name it. */
      readonly declineKind?: DeclineKind;
      readonly reason: string;
    }
  | { readonly attemptNo: string; readonly status: 'PENDING'; readonly institutionAnswered?: false }
  | { readonly attemptNo: string; readonly status: 'NOT_FOUND' };

export type RefundMessage =
  | {
      readonly refundNo: string;
      readonly status: 'SUCCESS';
      readonly amountCent: number;
      readonly refundedAt: number;
      /** Older bridges do not send it. */
      readonly institutionRef?: string;
    }
  | { readonly refundNo: string; readonly status: 'REFUSED'; readonly reason: string }
  | { readonly refundNo: string; readonly status: 'PENDING'; readonly institutionAnswered?: false }
  | { readonly refundNo: string; readonly status: 'NOT_FOUND' };

export interface LineMessage {
  readonly kind: 'DEBIT' | 'REFUND';
  readonly number: string;
  readonly amountCent: number;
  readonly status: 'SUCCESS' | 'FAIL' | 'PENDING';
  readonly bookedAt: number;
  readonly institutionRef: string;
}

export interface StatementMessage {
  readonly day: string;
  readonly lines: readonly LineMessage[];
  readonly nextCursor: string | null;
}

/** The request and the response of `handshake`. The service compares its currency with the bridge's. */
export interface HandshakeMessage {
  readonly currency: string;
}

/** A message to the service's notice endpoint. The sender adds the field `currency` to the same JSON object. */
export type NoticeMessage =
  | ({ readonly kind: 'DEBIT'; readonly noticeNo: string } & DebitMessage)
  | {
      readonly kind: 'AGREEMENT_CANCELED';
      readonly noticeNo: string;
      readonly institutionNo: string;
      readonly reason: string;
    };
