import type { LineMessage, WireDecline } from '@perennial/wire/bridge';

/** A debit as the service requests it. `institutionNo` and `amountCent` never change for an `attemptNo`. */
export interface Debit {
  readonly attemptNo: string;
  readonly appId: string | undefined;
  readonly institutionNo: string;
  readonly amountCent: number;
  readonly orderNo: string;
  readonly cycleNo: number;
  readonly externalOrderNo: string;
  /** Unix milliseconds of the service's start of the attempt. */
  readonly startedAt: number;
}

/**
 * The known part of a debit for a query: complete unless the book was lost. Then a query by the service lacks
 * `institutionNo`, and a refund knows only its debit's `attemptNo`.
 */
export type KnownDebit = Pick<Debit, 'attemptNo'> & {
  readonly [Field in Exclude<keyof Debit, 'attemptNo'>]: Debit[Field] | undefined;
} & {
  /** The institution's own number, once known. */
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
  | { readonly status: 'DECLINED'; readonly decline: WireDecline; readonly reason: string };

/** `institutionRef` is stored as soon as it is known, for later queries. */
export type DebitOutcome = DebitResult | { readonly status: 'PENDING'; readonly institutionRef?: string };

export interface Refund {
  readonly refundNo: string;
  readonly attemptNo: string;
  readonly amountCent: number;
  /** The debit to refund, by the institution's own number. */
  readonly debitRef: string;
}

/**
 * Only `refundNo` if the book was lost and the service queries. An institution that cannot find a refund by it returns
 * NOT_FOUND. The service then sends the complete refund again, and the kit queries once more before refunding.
 */
export type KnownRefund = Pick<Refund, 'refundNo'> &
  Partial<Refund> & {
    /** The institution's own number of the refund, once known. */
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

/** The institution states that it has never seen the number. */
export interface NotFound {
  readonly status: 'NOT_FOUND';
}

export interface Statement {
  readonly lines: readonly LineMessage[];
  /** The cursor for the next page. */
  readonly nextCursor: string | undefined;
}

export interface Card {
  readonly bankCardNo: string;
  readonly certificateNo: string;
  readonly certType: string;
  readonly realName: string;
  readonly bankMobile: string;
}

/** An event from the institution's webhook. The kit stores it and sends the service a notice. */
export type Told =
  | { readonly about: 'debit'; readonly attemptNo: string; readonly outcome: DebitOutcome }
  | { readonly about: 'refund'; readonly refundNo: string; readonly outcome: RefundOutcome }
  | { readonly about: 'agreement-ended'; readonly institutionNo: string; readonly reason: string };

export interface ReceivedWebhook {
  /** In lower case, as Node reports them. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
}

export interface WebhookReading {
  readonly told: readonly Told[];
  /** The HTTP response once everything is stored. */
  readonly answer: { readonly status: number; readonly contentType: string; readonly body: string };
}

/**
 * Finds our numbers by the institution's (`institutionRef`), for institutions that do not store ours. One call per
 * page. Omits unknown and ambiguous references; open numbers are queried in any case.
 */
export interface RefLookUp {
  attemptNosOf(institutionRefs: readonly string[]): Promise<ReadonlyMap<string, string>>;
  refundNosOf(institutionRefs: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

/**
 * One payment institution. Any exception means *unknown*: the kit stores nothing, answers PENDING and later calls
 * `find…`. Only a response that the institution really gave is a result.
 */
export interface Institution {
  /** For logs and for the book, which belongs to one institution. It must never change. */
  readonly name: string;
  /** The currency of every amount: three letters, with hundredths. Services with another currency are refused. Default: CNY. */
  readonly currency?: string;
  /** How long the institution executes a number only once, however often it is sent. One value, or one each. */
  readonly repeatableForMs: number | { readonly debits: number; readonly refunds: number };
  debit(debit: Debit, signal: AbortSignal): Promise<DebitOutcome>;
  /** Queries a debit and never pays. */
  findDebit(debit: KnownDebit, signal: AbortSignal): Promise<DebitOutcome | NotFound>;
  refund(refund: Refund, signal: AbortSignal): Promise<RefundOutcome>;
  findRefund(refund: KnownRefund, signal: AbortSignal): Promise<RefundOutcome | NotFound>;
  cancelAgreement(
    institutionNo: string,
    signal: AbortSignal,
  ): Promise<{ readonly status: 'CANCELED' } | { readonly status: 'REFUSED'; readonly reason: string }>;
  statement(day: string, cursor: string | undefined, signal: AbortSignal, book: RefLookUp): Promise<Statement>;
  /** Returns undefined if the webhook's signature is invalid. Throws `BadMessage` if only its body is wrong. */
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
