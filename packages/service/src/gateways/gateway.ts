import type { Origin } from '../platform/tracing.js';

/**
 * How the service talks to a payment institution. A gateway translates; it decides nothing about orders, and keeps nothing that
 * must survive a restart. Every call has its own deadline. `unknown` means that the institution may or may not have acted: the
 * caller must ask again with the same number, and must not try another number.
 */
export interface Gateway {
  sendBindCode(request: BindCodeRequest): Promise<BindCodeOutcome>;
  confirmBind(request: BindConfirmation): Promise<BindOutcome>;
  /** Safe to repeat with the same attemptNo: the institution debits once. */
  debit(request: DebitRequest): Promise<DebitOutcome>;
  queryDebit(request: DebitQuery): Promise<DebitOutcome | NotFound>;
  /** Safe to repeat with the same refundNo. */
  refund(request: RefundRequest): Promise<RefundOutcome>;
  queryRefund(request: RefundQuery): Promise<RefundOutcome | NotFound>;
  cancelAgreement(request: AgreementCancellation): Promise<CancelOutcome>;
  /** Throws NoticeRefused when the notice is not from the institution, or has no content that can be used. */
  verifyNotice(notice: RawNotice): Notice;
  /** What the institution booked on a day of Asia/Shanghai, yyyy-MM-dd. */
  statement(day: string): AsyncIterable<StatementLine>;
  /** Closes connections. Running calls have an unknown outcome. */
  close?(): Promise<void>;
}

/** Card data in the clear: exists only in memory, on its way to the institution. */
export interface CardDetails {
  readonly bankCardNo: string;
  readonly certificateNo: string;
  readonly certType: string;
  readonly realName: string;
  readonly bankMobile: string;
}

/** The channel that a call is made for: an institution may refuse a channel that an agreement does not belong to. */
export interface OnBehalf {
  readonly appId: string;
  /** The request that the call is made for. Undefined when a job makes it. */
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
  /** `wrong-code`: another code may be right. `refused`: this binding has failed for good. */
  | { readonly kind: 'wrong-code' | 'refused'; readonly reason: string }
  | { readonly kind: 'unknown' };

export interface DebitRequest extends OnBehalf {
  readonly attemptNo: string;
  readonly institutionNo: string;
  readonly amountCent: number;
  readonly orderNo: string;
  readonly cycleNo: number;
  /** The channel's own number. The triggers of the sandbox depend on it. */
  readonly externalOrderNo: string;
  /** When the attempt was stored, in Unix milliseconds. */
  readonly startedAt: number;
}
export type DebitQuery = Omit<DebitRequest, 'institutionNo'>;

export type DebitOutcome =
  | { readonly kind: 'success'; readonly paidAt: number; readonly amountCent: number; readonly institutionRef: string }
  | { readonly kind: 'declined'; readonly decline: Decline; readonly reason: string }
  /**
   * Accepted; the outcome comes by a notice or by asking. `askAt` is when it is known at the latest, in Unix milliseconds.
   * `isUnheard`: the bridge has accepted it, and its institution did not answer.
   */
  | { readonly kind: 'pending'; readonly askAt?: number; readonly isUnheard?: true }
  | { readonly kind: 'unknown' };
/** Whether trying again later can help, cannot help, or the agreement itself has ended. */
export type Decline = 'retryable' | 'final' | 'agreement-invalid';
/** The institution has never seen the number. */
export type NotFound = { readonly kind: 'not-found' };

export interface RefundRequest extends OnBehalf {
  readonly refundNo: string;
  readonly attemptNo: string;
  readonly amountCent: number;
}
export type RefundQuery = Pick<RefundRequest, 'appId' | 'refundNo'>;
export type RefundOutcome =
  | { readonly kind: 'success'; readonly refundedAt: number; readonly amountCent: number }
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

/** `untrusted`: it is not certain who sent it. `unusable`: the institution sent it, but it has nothing that can be stored. */
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
