import type { LineMessage, WireDecline } from '@perennial/wire/bridge';

/** A debit as the service asks for it. `institutionNo` and `amountCent` never change for an `attemptNo`. */
export interface Debit {
  readonly attemptNo: string;
  readonly appId: string | undefined;
  readonly institutionNo: string;
  readonly amountCent: number;
  readonly orderNo: string;
  readonly cycleNo: number;
  readonly externalOrderNo: string;
  /** Unix milliseconds: when the service began the attempt. */
  readonly startedAt: number;
}

/**
 * What is known of a debit when it is looked for: all of it, unless the book was lost. A question of the service then has all but the
 * `institutionNo`, and a refund knows the `attemptNo` of its debit alone.
 */
export type KnownDebit = Pick<Debit, 'attemptNo'> & {
  readonly [Field in Exclude<keyof Debit, 'attemptNo'>]: Debit[Field] | undefined;
} & {
  /** The institution's own number, once it has given one. */
  readonly institutionRef: string | undefined;
};

export type DebitResult =
  | {
      readonly status: 'SUCCESS';
      /** What was really debited. */
      readonly amountCent: number;
      readonly paidAt: number;
      readonly institutionRef: string;
    }
  | { readonly status: 'DECLINED'; readonly decline: WireDecline; readonly reason: string };

/** `institutionRef` is kept in the book as soon as it is known, to ask by it later. */
export type DebitOutcome = DebitResult | { readonly status: 'PENDING'; readonly institutionRef?: string };

export interface Refund {
  readonly refundNo: string;
  readonly attemptNo: string;
  readonly amountCent: number;
  /** The debit that is given back, by the institution's own number. */
  readonly debitRef: string;
}

/**
 * `refundNo` alone when the book was lost and the service asks. An institution that finds no refund by that says NOT_FOUND: the service
 * then sends the refund again, with all of it, and it is looked for once more before anything is given back.
 */
export type KnownRefund = Pick<Refund, 'refundNo'> &
  Partial<Refund> & {
    /** The institution's own number of the refund, once it has given one. */
    readonly institutionRef?: string;
  };

export type RefundResult =
  | {
      readonly status: 'SUCCESS';
      readonly amountCent: number;
      readonly refundedAt: number;
      readonly institutionRef: string;
    }
  | { readonly status: 'REFUSED'; readonly reason: string };
export type RefundOutcome = RefundResult | { readonly status: 'PENDING'; readonly institutionRef?: string };

/** The institution says for certain that it has never seen the number. */
export interface NotFound {
  readonly status: 'NOT_FOUND';
}

export interface Statement {
  readonly lines: readonly LineMessage[];
  /** Passed back for the next page. */
  readonly nextCursor: string | undefined;
}

export interface Card {
  readonly bankCardNo: string;
  readonly certificateNo: string;
  readonly certType: string;
  readonly realName: string;
  readonly bankMobile: string;
}

/** What the institution's own webhook said. The kit writes it down and owes the service a notice. */
export type Told =
  | { readonly about: 'debit'; readonly attemptNo: string; readonly outcome: DebitOutcome }
  | { readonly about: 'refund'; readonly refundNo: string; readonly outcome: RefundOutcome }
  | { readonly about: 'agreement-ended'; readonly institutionNo: string; readonly reason: string };

export interface ReceivedWebhook {
  /** In lower case, as Node has them. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
}

export interface WebhookReading {
  readonly told: readonly Told[];
  /** What is answered when all of it is written down. */
  readonly answer: { readonly status: number; readonly contentType: string; readonly body: string };
}

/**
 * Our numbers by the institution's own (`institutionRef`), for one that does not keep ours. All of a page in one question. What the book does
 * not know, or has of several numbers, is not in the answer; what is open is asked for in any case.
 */
export interface RefLookUp {
  attemptNosOf(institutionRefs: readonly string[]): Promise<ReadonlyMap<string, string>>;
  refundNosOf(institutionRefs: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

/**
 * One payment institution. Whatever throws is *unknown*: the kit writes nothing down, answers PENDING and asks later with `find…`.
 * Only an answer that the institution has really given is a result.
 */
export interface Institution {
  /** For logs, and for the book, which is one institution's alone: it never changes. */
  readonly name: string;
  /** Of every amount: three letters, with hundredths. A service with another currency is refused. Unset: CNY. */
  readonly currency?: string;
  /** For how long the institution pays a number once, however often it is sent. One for both, or one for each. */
  readonly repeatableForMs: number | { readonly debits: number; readonly refunds: number };
  debit(debit: Debit, signal: AbortSignal): Promise<DebitOutcome>;
  /** Asks, and never pays. */
  findDebit(debit: KnownDebit, signal: AbortSignal): Promise<DebitOutcome | NotFound>;
  refund(refund: Refund, signal: AbortSignal): Promise<RefundOutcome>;
  findRefund(refund: KnownRefund, signal: AbortSignal): Promise<RefundOutcome | NotFound>;
  cancelAgreement(
    institutionNo: string,
    signal: AbortSignal,
  ): Promise<{ readonly status: 'CANCELED' } | { readonly status: 'REFUSED'; readonly reason: string }>;
  statement(day: string, cursor: string | undefined, signal: AbortSignal, book: RefLookUp): Promise<Statement>;
  /** Undefined when the signature of the webhook does not hold. Throws `BadMessage` when it holds and the body is not as it should be. */
  readWebhook?(webhook: ReceivedWebhook, book: RefLookUp): Promise<WebhookReading | undefined>;
  bindCode?(
    binding: { readonly bindOrderNo: string; readonly bankCode: string | undefined; readonly card: Card },
    signal: AbortSignal,
  ): Promise<
    | { readonly status: 'SENT'; readonly reference: string | undefined }
    | { readonly status: 'NOT_SENT'; readonly reason: string }
  >;
  bindConfirm?(
    binding: { readonly bindOrderNo: string; readonly reference: string | undefined; readonly smsCode: string },
    signal: AbortSignal,
  ): Promise<
    | { readonly status: 'BOUND'; readonly institutionNo: string }
    | { readonly status: 'WRONG_CODE' | 'REFUSED'; readonly reason: string }
  >;
}
