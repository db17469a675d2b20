import {
  BadMessage,
  type Debit,
  type DebitOutcome,
  type DebitResult,
  type Institution,
  type KnownDebit,
  type KnownRefund,
  type NotFound,
  type ReceivedWebhook,
  type RefLookUp,
  type Refund,
  type RefundOutcome,
  type Statement,
  type Told,
  type WebhookReading,
} from '../../src/index.js';

const DAY_MS = 86_400_000;

/** The fault of an operation's calls: they fail before or after execution, answer nonsense, or wait. */
export type Mishap = 'fails-before' | 'fails-after' | 'says-nonsense' | { readonly until: Promise<void> };

const NONSENSE = { status: 'SUCCESS', amountCent: 0, paidAt: 1, refundedAt: 1, institutionRef: 'x' } as const;

/**
 * An institution in memory, with a ledger of the payments really made. The agreement selects the behaviour: SLOW is
 * pending first, POOR is declined, ODD returns a result that the protocol cannot express, and KEPT cannot be canceled.
 */
export class FakeInstitution implements Institution {
  readonly name = 'fake';
  repeatableForMs = DAY_MS;
  /** Every payment; a double payment appears twice. */
  readonly payments: { readonly attemptNo: string; readonly amountCent: number }[] = [];
  readonly paidBack: { readonly refundNo: string; readonly amountCent: number }[] = [];
  readonly calls: string[] = [];
  readonly mishaps = new Map<string, Mishap>();
  readonly canceled: string[] = [];
  /** The lines of the statement. They have only the institution's own numbers. */
  readonly booked: Record<'DEBIT' | 'REFUND', readonly string[]> = { DEBIT: [], REFUND: [] };
  readonly #debits = new Map<string, DebitOutcome>();
  readonly #refunds = new Map<string, RefundOutcome>();
  codes = 0;
  bound = 0;

  async debit({ attemptNo, institutionNo, amountCent }: Debit): Promise<DebitOutcome> {
    await this.#begin('debit', attemptNo);
    const known = this.#debits.get(attemptNo);
    if (known === undefined) this.#debits.set(attemptNo, this.#decide(attemptNo, institutionNo, amountCent));
    this.#end('debit');
    if (this.mishaps.get('debit') === 'says-nonsense') return NONSENSE;
    return this.#debits.get(attemptNo) ?? { status: 'PENDING' };
  }

  async findDebit({ attemptNo }: KnownDebit): Promise<DebitOutcome | NotFound> {
    await this.#begin('findDebit', attemptNo);
    return this.#debits.get(attemptNo) ?? { status: 'NOT_FOUND' };
  }

  async refund({ refundNo, amountCent, debitRef }: Refund): Promise<RefundOutcome> {
    await this.#begin('refund', refundNo);
    if (!this.#refunds.has(refundNo)) {
      this.paidBack.push({ refundNo, amountCent });
      const institutionRef = `back-${debitRef}`.slice(0, 64);
      this.#refunds.set(refundNo, { status: 'SUCCESS', amountCent, refundedAt: 1_700_000_000_000, institutionRef });
    }
    this.#end('refund');
    if (this.mishaps.get('refund') === 'says-nonsense') return NONSENSE;
    return this.#refunds.get(refundNo) ?? { status: 'PENDING' };
  }

  async findRefund({ refundNo }: KnownRefund): Promise<RefundOutcome | NotFound> {
    await this.#begin('findRefund', refundNo);
    return this.#refunds.get(refundNo) ?? { status: 'NOT_FOUND' };
  }

  async cancelAgreement(institutionNo: string) {
    await this.#begin('cancelAgreement', institutionNo);
    if (institutionNo === 'KEPT') return { status: 'REFUSED', reason: 'card 6222020000001234567 is kept' } as const;
    this.canceled.push(institutionNo);
    return { status: 'CANCELED' } as const;
  }

  async statement(_day: string, _cursor: unknown, _signal: unknown, book: RefLookUp): Promise<Statement> {
    const ours = {
      DEBIT: await book.attemptNosOf(this.booked.DEBIT),
      REFUND: await book.refundNosOf(this.booked.REFUND),
    };
    const line = { amountCent: 1, status: 'SUCCESS', bookedAt: 1_700_000_000_000 } as const;
    const lines = (['DEBIT', 'REFUND'] as const).flatMap((kind) =>
      this.booked[kind].flatMap((institutionRef) => {
        const number = ours[kind].get(institutionRef);
        return number === undefined ? [] : [{ ...line, kind, number, institutionRef }];
      }),
    );
    return { lines, nextCursor: undefined };
  }

  async readWebhook({ headers, body }: ReceivedWebhook, book: RefLookUp): Promise<WebhookReading | undefined> {
    if (headers['x-fake-signature'] !== 'good') return undefined;
    const events = JSON.parse(body.toString()) as (Told & { readonly institutionRef?: string })[];
    if (!Array.isArray(events)) throw new BadMessage('no list');
    const attemptNos = await book.attemptNosOf(events.flatMap(({ institutionRef }) => institutionRef ?? []));
    const told = events.map(({ institutionRef, ...event }) =>
      institutionRef === undefined ? event : { ...event, attemptNo: attemptNos.get(institutionRef) },
    ) as Told[];
    return { told, answer: { status: 200, contentType: 'text/plain', body: 'thanks' } };
  }

  async bindCode(): Promise<{ readonly status: 'SENT'; readonly reference: string }> {
    await this.#begin('bindCode', '');
    this.codes += 1;
    return { status: 'SENT', reference: 'ref' };
  }

  async bindConfirm({ smsCode }: { readonly smsCode: string }) {
    await this.#begin('bindConfirm', '');
    if (smsCode !== '1234') return { status: 'WRONG_CODE', reason: 'wrong' } as const;
    this.bound += 1;
    return { status: 'BOUND', institutionNo: `A-${this.bound}` } as const;
  }

  settle(attemptNo: string, result: DebitResult): void {
    this.#debits.set(attemptNo, result);
  }

  paid(attemptNo: string, amountCent: number): DebitResult {
    this.payments.push({ attemptNo, amountCent });
    return { status: 'SUCCESS', amountCent, paidAt: 1_700_000_000_000, institutionRef: `pay-${this.payments.length}` };
  }

  #decide(attemptNo: string, institutionNo: string, amountCent: number): DebitOutcome {
    if (institutionNo === 'SLOW') return { status: 'PENDING', institutionRef: 'slow-1' };
    if (institutionNo === 'ODD') return { status: 'DECLINED', decline: 'MAYBE' as 'FINAL', reason: 'odd' };
    if (institutionNo === 'POOR') {
      return { status: 'DECLINED', decline: 'RETRYABLE', reason: 'card 6222020000001234567 has no money' };
    }
    return this.paid(attemptNo, amountCent);
  }

  async #begin(kind: string, number: string): Promise<void> {
    this.calls.push(`${kind} ${number}`.trim());
    const mishap = this.mishaps.get(kind);
    const whose = kind.startsWith('bind') ? ' of Zhang San' : '';
    if (mishap === 'fails-before') throw new Error(`card 6222020000001234567${whose}: connection refused`);
    if (typeof mishap === 'object') await mishap.until;
  }

  #end(kind: string): void {
    if (this.mishaps.get(kind) === 'fails-after') throw new Error('connection lost');
  }
}
