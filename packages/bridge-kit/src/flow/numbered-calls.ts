import type { Entry, Numbers, OwedNotice } from '../book/numbers.js';
import type { Clock } from '../clock.js';
import type { DebitResult, NotFound, RefLookUp, RefundResult } from '../institution.js';
import type { BridgeLog } from '../log.js';
import type { BridgeMetrics } from '../metrics.js';
import type { Calls } from './calls.js';
import { Shared } from './shared.js';

/** The points where tests simulate a crash. */
export const CRASH_POINTS = ['book-written', 'institution-called', 'result-written', 'notice-sent'] as const;
export type CrashPoint = (typeof CRASH_POINTS)[number];
export type At = (point: CrashPoint, number: string) => void | Promise<void>;

export interface Tools {
  readonly clock: Clock;
  readonly log: BridgeLog;
  readonly metrics: BridgeMetrics;
  readonly calls: Calls;
  readonly at: At;
  readonly refs: RefLookUp;
  /** How long the institution guarantees to execute a number only once, even if it gets the number again. */
  readonly repeatableForMs: Readonly<Record<'debit' | 'refund', number>>;
  /** How long the book keeps settled numbers. */
  readonly keepMs: number;
}

export interface Pending {
  readonly status: 'PENDING';
  readonly institutionRef?: string;
  /** True if the institution gave no usable response just now. */
  readonly isUnanswered?: true;
}

const UNANSWERED: Pending = { status: 'PENDING', isUnanswered: true };

/** Returns the PENDING message for the service. The message also says if the institution did not respond. */
export const toPendingMessage = ({ isUnanswered }: Pending) =>
  isUnanswered ? ({ status: 'PENDING', institutionAnswered: false } as const) : ({ status: 'PENDING' } as const);

/** What differs between debits and refunds. */
export interface CallKind<Asked, Terms extends object, Result extends object> {
  readonly name: 'debit' | 'refund';
  readonly numbers: Numbers<Terms, Result>;
  /** Throws if a number is used again with different terms. */
  requireSame(known: Asked, given: Asked): void;
  pay(entry: Entry<Terms, Result>, signal: AbortSignal): Promise<Result | Pending>;
  find(entry: Entry<Terms, Result>, signal: AbortSignal): Promise<Result | Pending | NotFound>;
  /** Returns a refusal if the number, which the institution has never seen, is too old to be sent. */
  refuse?(entry: Entry<Terms, Result>): Result | undefined;
  /** Returns the result in the form to store. Throws if the protocol cannot express the institution's response. */
  clean(result: Result): Result;
  /** Creates the notice about a result that was not the response to the debit request itself. */
  notice?(number: string, result: Result): OwedNotice;
}

const FIRST_QUESTION_MS = 15_000;

const amountOf = (result: DebitResult | RefundResult) => (result.status === 'SUCCESS' ? result.amountCent : undefined);
const refOf = (result: DebitResult | RefundResult) => (result.status === 'SUCCESS' ? result.institutionRef : undefined);

/** Makes the institution execute each debit or refund number at most once, and stores its result. */
export class NumberedCalls<Asked, Terms extends object, Result extends DebitResult | RefundResult> {
  readonly #tools: Tools;
  readonly #kind: CallKind<Asked, Terms, Result>;
  readonly #owed: () => void;
  readonly #sending = new Map<string, Asked>();
  readonly #sent = new Shared<string, Result | Pending>();
  readonly #asked = new Shared<string, Result | Pending | NotFound>();

  constructor(tools: Tools, kind: CallKind<Asked, Terms, Result>, owed: () => void) {
    this.#tools = tools;
    this.#kind = kind;
    this.#owed = owed;
  }

  /** Leases numbers without a result that are due for a query, and queries them. Returns whether there may be more. */
  async askForDue(most: number): Promise<boolean> {
    const due = await this.#kind.numbers.takeDue(this.#tools.clock.now(), most);
    await Promise.all(due.map((entry) => this.#asked.run(entry.number, () => this.#settleByAsking(entry))));
    return due.length === most;
  }

  /**
   * Records the outcome from a webhook of the institution. A webhook may be late, repeated, or earlier than the
   * response to the call. Returns false if the book does not have the number.
   */
  async told(number: string, said: Result | Pending): Promise<boolean> {
    const { numbers } = this.#kind;
    if ((await numbers.find(number)) === undefined) return false;
    if (said.status !== 'PENDING') await this.record(number, this.#cleaned(said), 'told-by-notice');
    else if (said.institutionRef !== undefined) await numbers.noteRef(number, said.institutionRef);
    return true;
  }

  async idle(): Promise<void> {
    await Promise.all([this.#sent.idle(), this.#asked.idle()]);
  }

  /** Sends a number. Concurrent requests with the same number share one call and get the same response. */
  protected async sendShared(
    number: string,
    asked: Asked,
    send: () => Promise<Result | Pending>,
  ): Promise<Result | Pending> {
    const under = this.#sending.get(number);
    if (under !== undefined) this.#kind.requireSame(under, asked);
    const sent = this.#sent.of(number);
    if (sent !== undefined) return sent;
    this.#sending.set(number, asked);
    return this.#sent.run(number, () => send().finally(() => this.#sending.delete(number)));
  }

  /** Queries a number. If a call for this number is in flight, returns its response instead. */
  protected queryShared(
    number: string,
    findLost: () => Promise<Result | Pending | NotFound>,
  ): Promise<Result | Pending | NotFound> {
    const ask = () => this.#asked.run(number, () => this.#askOnce(number, findLost));
    return this.#sent.of(number)?.catch(ask) ?? this.#asked.of(number) ?? ask();
  }

  async #askOnce(
    number: string,
    findLost: () => Promise<Result | Pending | NotFound>,
  ): Promise<Result | Pending | NotFound> {
    const { numbers } = this.#kind;
    const known = await numbers.find(number);
    if (known === undefined) return findLost();
    if (known.result !== undefined) return known.result;
    const entry = await numbers.takeInHand(number, this.#tools.clock.now());
    return entry === undefined ? this.#findResult(number) : this.#settleByAsking(entry);
  }

  /** Queries a number that the book does not have. If the book was lost, the institution may still know the number. */
  protected askLost<Said extends Result | Pending | NotFound>(
    find: (signal: AbortSignal) => Promise<Said>,
  ): Promise<Said> {
    const { calls } = this.#tools;
    return calls.require(`${this.#kind.name}-query`, async (signal) => this.#cleaned(await find(signal)));
  }

  /**
   * Queries a number that the book has. Pays it if the institution has never seen it and still guarantees to pay it
   * once.
   */
  protected async payAgain(number: string, signal: AbortSignal): Promise<Result | Pending> {
    const entry = await this.#kind.numbers.takeInHand(number, this.#tools.clock.now());
    if (entry === undefined) return this.#findResult(number);
    return this.payUnlessFound(entry, signal, () => this.#isRepeatable(entry));
  }

  protected async payUnlessFound(
    entry: Entry<Terms, Result>,
    signal: AbortSignal,
    mayPay: () => boolean = () => true,
  ): Promise<Result | Pending> {
    const { numbers, refuse } = this.#kind;
    const found = await this.#ask(entry, signal, 'answered');
    if (found === undefined) return UNANSWERED;
    if (found.status !== 'NOT_FOUND') return found;
    if (!mayPay()) {
      await numbers.leaveOpen(entry.number, 'AS_IT_WAS', undefined);
      return { status: 'PENDING' };
    }
    const refused = refuse?.(entry);
    return refused === undefined ? this.pay(entry, signal) : this.record(entry.number, refused, 'answered');
  }

  /** Pays a number that this process has leased. */
  protected async pay(entry: Entry<Terms, Result>, signal: AbortSignal): Promise<Result | Pending> {
    const { calls, at, clock } = this.#tools;
    const { name, pay, numbers } = this.#kind;
    const { number } = entry;
    const call = async (aborted: AbortSignal) => this.#cleaned(await pay(entry, aborted));
    const said = await calls.make(name, signal, call, (late) => this.record(number, late, 'told-by-notice'));
    await at('institution-called', number);
    if (said !== undefined) return this.record(number, said, 'answered');
    await numbers.leaveOpen(number, 'OPEN', undefined, clock.now() + FIRST_QUESTION_MS);
    return UNANSWERED;
  }

  /**
   * Queries a leased number and never pays. Keeps the lease on NOT_FOUND. Returns undefined if the outcome is unknown.
   */
  async #ask(
    entry: Entry<Terms, Result>,
    signal: AbortSignal,
    how: 'answered' | 'told-by-notice',
  ): Promise<Result | Pending | NotFound | undefined> {
    const { name, find, numbers } = this.#kind;
    const said = await this.#tools.calls.make(`${name}-query`, signal, async (aborted) =>
      this.#cleaned(await find(entry, aborted)),
    );
    if (said === undefined) await numbers.leaveOpen(entry.number, 'AS_IT_WAS', undefined);
    if (said === undefined || said.status === 'NOT_FOUND') return said;
    return this.record(entry.number, said, how);
  }

  /** Queries a leased number and releases the lease. */
  async #settleByAsking(entry: Entry<Terms, Result>): Promise<Result | Pending | NotFound> {
    const said = await this.#ask(entry, this.#tools.calls.deadline(), 'told-by-notice');
    if (said?.status !== 'NOT_FOUND') return said ?? UNANSWERED;
    await this.#kind.numbers.leaveOpen(entry.number, 'AS_IT_WAS', undefined);
    return this.#isRepeatable(entry) ? { status: 'NOT_FOUND' } : { status: 'PENDING' };
  }

  /**
   * Returns true while the institution guarantees to execute the number only once. Later, logs that an operator has to
   * check the number at the institution, and returns false.
   */
  #isRepeatable({ number, begunAt }: Entry<Terms, Result>): boolean {
    const { clock, repeatableForMs, log } = this.#tools;
    const { name } = this.#kind;
    if (clock.now() - begunAt < repeatableForMs[name]) return true;
    log.error(
      { operation: name, about: number },
      'the institution does not know a number that may have been sent, and might now execute it twice: check there',
    );
    return false;
  }

  /** Stores the institution's response, unless the book already has a result. Returns what the book then has. */
  protected async record(
    number: string,
    said: Result | Pending,
    how: 'answered' | 'told-by-notice',
  ): Promise<Result | Pending> {
    const { clock, at } = this.#tools;
    const { numbers, notice } = this.#kind;
    if (said.status === 'PENDING') {
      const askAt = how === 'answered' ? clock.now() + FIRST_QUESTION_MS : undefined;
      await numbers.leaveOpen(number, 'OPEN', said.institutionRef, askAt);
      return this.#findResult(number);
    }
    const owed = how === 'answered' ? undefined : notice?.(number, said);
    const isFirst = await numbers.settle(number, said, refOf(said), owed, clock.now());
    await at('result-written', number);
    if (isFirst && owed !== undefined) this.#owed();
    return isFirst ? said : this.#compare(number, said);
  }

  async #findResult(number: string): Promise<Result | Pending> {
    return (await this.#kind.numbers.find(number))?.result ?? { status: 'PENDING' };
  }

  async #compare(number: string, told: Result): Promise<Result | Pending> {
    const { log, metrics } = this.#tools;
    const { name } = this.#kind;
    const known = await this.#findResult(number);
    if (known.status === 'PENDING') return known;
    if (known.status !== told.status || amountOf(known) !== amountOf(told)) {
      metrics.countContradiction(name);
      log.error(
        { operation: name, about: number, known: known.status, told: told.status },
        'the institution contradicts a stored result, which is kept: check there',
      );
    }
    return known;
  }

  #cleaned<Said extends Result | Pending | NotFound>(said: Said): Said {
    const isResult = said.status !== 'PENDING' && said.status !== 'NOT_FOUND';
    return isResult ? (this.#kind.clean(said as Result) as Said) : said;
  }
}
