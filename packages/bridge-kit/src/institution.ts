import type { DeclineKind, LineMessage, WireDecline } from '@perennial/wire/bridge';

/** A debit as the service requests it. An `attemptNo` always has the same `institutionNo` and `amountCent`. */
export interface Debit {
  readonly attemptNo: string;
  readonly appId: string | undefined;
  readonly institutionNo: string;
  readonly amountCent: number;
  readonly orderNo: string;
  readonly cycleNo: number;
  readonly externalOrderNo: string;
  /** When the service started the attempt, in Unix milliseconds. */
  readonly startedAt: number;
}

/**
 * What is known of a debit that is queried: everything, unless the book was lost. After a loss, a query by the service
 * lacks `institutionNo`. A query that the kit makes because it must refund the debit has only the `attemptNo`.
 */
export type KnownDebit = Pick<Debit, 'attemptNo'> & {
  readonly [Field in Exclude<keyof Debit, 'attemptNo'>]: Debit[Field] | undefined;
} & {
  /** The institution's own number of the debit, as soon as it is known. */
  readonly institutionRef: string | undefined;
};

export type DebitResult =
  | {
      readonly status: 'SUCCESS';
      /** The amount actually debited. */
      readonly amountCent: number;
      readonly paidAt: number;
      readonly institutionRef: string;
    }
  | {
      readonly status: 'DECLINED';
      readonly decline: WireDecline;
      /** The cause, for operators and the user. Without it, the service derives the kind from the reason. */
      readonly declineKind?: DeclineKind;
      readonly reason: string;
    };

/** The kit stores `institutionRef` as soon as it is known, for later queries. */
export type DebitOutcome = DebitResult | { readonly status: 'PENDING'; readonly institutionRef?: string };

export interface Refund {
  readonly refundNo: string;
  readonly attemptNo: string;
  readonly amountCent: number;
  /** The debit to refund, by the institution's own number. */
  readonly debitRef: string;
}

/**
 * What is known of a refund that is queried: only `refundNo` if the book was lost. If the institution cannot find a
 * refund by `refundNo`, it returns NOT_FOUND. The service then sends the complete refund again, and the kit queries
 * again before it refunds.
 */
export type KnownRefund = Pick<Refund, 'refundNo'> &
  Partial<Refund> & {
    /** The institution's own number of the refund, as soon as it is known. */
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

/** The answer if the institution states that it has never seen the number. */
export interface NotFound {
  readonly status: 'NOT_FOUND';
}

export interface Statement {
  readonly lines: readonly LineMessage[];
  /** The cursor of the next page. Undefined after the last page. */
  readonly nextCursor: string | undefined;
}

export interface Card {
  readonly bankCardNo: string;
  readonly certificateNo: string;
  readonly certType: string;
  readonly realName: string;
  readonly bankMobile: string;
}

/**
 * An event from the institution's webhook. The kit stores it, and notifies the service of a debit's new result and of
 * the end of an agreement.
 */
export type Told =
  | { readonly about: 'debit'; readonly attemptNo: string; readonly outcome: DebitOutcome }
  | { readonly about: 'refund'; readonly refundNo: string; readonly outcome: RefundOutcome }
  | { readonly about: 'agreement-ended'; readonly institutionNo: string; readonly reason: string };

export interface ReceivedWebhook {
  /** Header names are in lower case, as Node reports them. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
}

export interface WebhookReading {
  readonly told: readonly Told[];
  /** The HTTP response. It is sent after everything in `told` has been stored. */
  readonly answer: { readonly status: number; readonly contentType: string; readonly body: string };
}

/**
 * Finds attempt and refund numbers of the service by the institution's own numbers (`institutionRef`), for institutions
 * that do not store the service's numbers. Call it once per page. Omits references that are unknown or that several
 * numbers share. A number that is omitted and still open is not lost, because the kit queries all open numbers.
 */
export interface RefLookUp {
  attemptNosOf(institutionRefs: readonly string[]): Promise<ReadonlyMap<string, string>>;
  refundNosOf(institutionRefs: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

/**
 * One payment institution. An exception in `debit` or `refund` means "outcome unknown": the kit stores no result,
 * answers PENDING and later calls `findDebit` or `findRefund`. Return a result only if the institution really gave it.
 */
export interface Institution {
  /** The institution's name in logs and in the book, which belongs to one institution. The name must never change. */
  readonly name: string;
  /**
   * The currency of every amount: a three-letter code whose unit has hundredths. A service with a different currency is
   * refused. Default: CNY.
   */
  readonly currency?: string;
  /**
   * How long the institution guarantees to execute a number only once: one value, or separate values for debits and
   * refunds.
   */
  readonly repeatableForMs: number | { readonly debits: number; readonly refunds: number };
  debit(debit: Debit, signal: AbortSignal): Promise<DebitOutcome>;
  /** Queries a debit. Must never pay it. */
  findDebit(debit: KnownDebit, signal: AbortSignal): Promise<DebitOutcome | NotFound>;
  refund(refund: Refund, signal: AbortSignal): Promise<RefundOutcome>;
  findRefund(refund: KnownRefund, signal: AbortSignal): Promise<RefundOutcome | NotFound>;
  cancelAgreement(
    institutionNo: string,
    signal: AbortSignal,
  ): Promise<{ readonly status: 'CANCELED' } | { readonly status: 'REFUSED'; readonly reason: string }>;
  statement(day: string, cursor: string | undefined, signal: AbortSignal, book: RefLookUp): Promise<Statement>;
  /** Reads a webhook. Returns undefined if the signature is invalid. Throws `BadMessage` if only the body is wrong. */
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
