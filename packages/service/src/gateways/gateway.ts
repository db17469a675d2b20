import type { DeclineKind } from '@perennial/wire/enums';
import type { Origin } from '../platform/tracing.js';

/**
 * The connection to a payment institution. A gateway only translates: it decides nothing about orders, and keeps no
 * state that must survive a restart. Every call has its own deadline. `unknown` means that the institution may or may
 * not have acted: the caller must query with the same number, and must not repeat the call with another number.
 */
export interface Gateway {
  sendBindCode(request: BindCodeRequest): Promise<BindCodeOutcome>;
  confirmBind(request: BindConfirmation): Promise<BindOutcome>;
  /** Idempotent: the institution debits each attemptNo at most once. */
  debit(request: DebitRequest): Promise<DebitOutcome>;
  queryDebit(request: DebitQuery): Promise<DebitOutcome | NotFound>;
  /** Idempotent by refundNo. */
  refund(request: RefundRequest): Promise<RefundOutcome>;
  queryRefund(request: RefundQuery): Promise<RefundOutcome | NotFound>;
  cancelAgreement(request: AgreementCancellation): Promise<CancelOutcome>;
  /** Throws NoticeRefused if the notice is not from the institution, or has no usable content. */
  verifyNotice(notice: RawNotice): Notice;
  /** Yields the institution's bookings on a day of Asia/Shanghai, yyyy-MM-dd. */
  statement(day: string): AsyncIterable<StatementLine>;
  /** Makes calls that change nothing, to test the connection. Undefined if nobody is called. */
  testCalls?(): Promise<readonly TestCall[]>;
  /** Closes connections. Calls in flight have an unknown outcome. */
  close?(): Promise<void>;
}

/** A call that tests a connection. */
export interface TestCall {
  readonly operation: 'handshake' | 'debit-query';
  readonly isAnswered: boolean;
  readonly ms: number;
  /** The currency of a handshake, the outcome of a query, or why there is no usable answer. */
  readonly said: string;
}

/** Card data in plain text, which exists only in memory. Channels send it encrypted, and it is stored encrypted. */
export interface CardDetails {
  readonly bankCardNo: string;
  readonly certificateNo: string;
  readonly certType: string;
  readonly realName: string;
  readonly bankMobile: string;
}

/** The channel for which a call is made. An institution may refuse a channel that the agreement does not belong to. */
export interface OnBehalf {
  readonly appId: string;
  /** The API request that caused the call. Undefined, for example, if a job makes the call. */
  readonly origin?: Origin | undefined;
}

export interface BindCodeRequest extends OnBehalf {
  readonly bindOrderNo: string;
  readonly bankCode: string | undefined;
  readonly card: CardDetails;
}
export type BindCodeOutcome =
  | { readonly kind: 'sent'; readonly reference: string | undefined }
  | { readonly kind: 'not-sent'; readonly reason: string }
  | { readonly kind: 'unknown' };

export interface BindConfirmation extends OnBehalf {
  readonly bindOrderNo: string;
  readonly reference: string | undefined;
  readonly smsCode: string;
}
export type BindOutcome =
  | { readonly kind: 'bound'; readonly institutionNo: string }
  /** `wrong-code`: the user can enter another code. `refused`: this binding has failed for good. */
  | { readonly kind: 'wrong-code' | 'refused'; readonly reason: string }
  | { readonly kind: 'unknown' };

export interface DebitRequest extends OnBehalf {
  readonly attemptNo: string;
  readonly institutionNo: string;
  readonly amountCent: number;
  readonly orderNo: string;
  readonly cycleNo: number;
  /** The channel's order number. It triggers outcomes in the sandbox. */
  readonly externalOrderNo: string;
  /** The time when the attempt was stored, in Unix milliseconds. */
  readonly startedAt: number;
}
export type DebitQuery = Omit<DebitRequest, 'institutionNo'>;

export type DebitOutcome =
  | { readonly kind: 'success'; readonly paidAt: number; readonly amountCent: number; readonly institutionRef: string }
  | {
      readonly kind: 'declined';
      readonly decline: Decline;
      /** Undefined if the institution names none. It is then derived from the reason when the debit is settled. */
      readonly declineKind?: DeclineKind;
      readonly reason: string;
    }
  /**
   * The debit was accepted. A notice or a query brings its outcome. `askAt` is the time by which the outcome is known,
   * in Unix milliseconds. `isUnheard`: the bridge has accepted the debit, but its institution did not answer.
   */
  | { readonly kind: 'pending'; readonly askAt?: number; readonly isUnheard?: true }
  | { readonly kind: 'unknown' };
/** What a decline means: a later retry can help, a retry cannot help, or the agreement itself has ended. */
export type Decline = 'retryable' | 'final' | 'agreement-invalid';
/** The institution does not know the number. */
export type NotFound = { readonly kind: 'not-found' };

export interface RefundRequest extends OnBehalf {
  readonly refundNo: string;
  readonly attemptNo: string;
  readonly amountCent: number;
}
export type RefundQuery = Pick<RefundRequest, 'appId' | 'refundNo'>;
export type RefundOutcome =
  | {
      readonly kind: 'success';
      readonly refundedAt: number;
      readonly amountCent: number;
      /** Undefined if the bridge does not send it. */
      readonly institutionRef?: string;
    }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'pending'; readonly isUnheard?: true }
  | { readonly kind: 'unknown' };

export interface AgreementCancellation extends OnBehalf {
  readonly agreementNo: string;
  readonly institutionNo: string;
}
export type CancelOutcome =
  | { readonly kind: 'canceled' | 'unknown' }
  | { readonly kind: 'refused'; readonly reason: string };

export interface RawNotice {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
  readonly now: number;
}
export type Notice =
  | { readonly kind: 'debit'; readonly attemptNo: string; readonly outcome: DebitOutcome }
  | { readonly kind: 'agreement-canceled'; readonly institutionNo: string; readonly reason: string };

/** `untrusted`: the notice may be forged. `unusable`: the institution sent it, but it contains nothing to store. */
export class NoticeRefused extends Error {
  constructor(
    readonly kind: 'untrusted' | 'unusable',
    why: string,
  ) {
    super(why);
  }
}

export interface StatementLine {
  readonly kind: 'debit' | 'refund';
  /** attemptNo or refundNo. */
  readonly number: string;
  readonly amountCent: number;
  readonly status: 'SUCCESS' | 'FAIL' | 'PENDING';
  readonly bookedAt: number;
  readonly institutionRef: string;
}
