import type { Entry, Numbers, OwedNotice } from '../book/numbers.js';
import type { Clock } from '../clock.js';
import type { DebitResult, NotFound, RefLookUp, RefundResult } from '../institution.js';
import type { BridgeLog } from '../log.js';
import type { BridgeMetrics } from '../metrics.js';
import type { Calls } from './calls.js';
import { Shared } from './shared.js';

/** Where a crash can be tried. */
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
  /** For how long the institution pays a number once. */
  readonly repeatableForMs: Readonly<Record<'debit' | 'refund', number>>;
  /** For how long the book keeps what came to its end. */
  readonly keepMs: number;
}

export interface Pending {
  readonly status: 'PENDING';
  readonly institutionRef?: string;
  /** The institution was called just now, and did not answer. */
  readonly isUnheard?: true;
}

/** The answer to a call that the institution did not answer. */
const UNHEARD: Pending = { status: 'PENDING', isUnheard: true };

/** As the service is told of it: PENDING alone does not say whether the institution answers. */
export const toPendingMessage = ({ isUnheard }: Pending) =>
  isUnheard ? ({ status: 'PENDING', institutionAnswered: false } as const) : ({ status: 'PENDING' } as const);

/** What a debit and a refund differ in. */
export interface Manner<Asked, Terms extends object, Result extends object> {
  readonly name: 'debit' | 'refund';
  readonly numbers: Numbers<Terms, Result>;
  /** Throws when one number was used for two things. */
  requireSame(known: Asked, given: Asked): void;
  pay(entry: Entry<Terms, Result>, signal: AbortSignal): Promise<Result | Pending>;
  find(entry: Entry<Terms, Result>, signal: AbortSignal): Promise<Result | Pending | NotFound>;
  /** The result of a number that the institution has never seen and must not see any more. */
  refuse?(entry: Entry<Terms, Result>): Result | undefined;
  /** As it is written down; throws when the institution said what the protocol cannot say. */
  clean(result: Result): Result;
  /** Of a result that is not the answer to the request itself. */
  notice?(number: string, result: Result): OwedNotice;
}

const FIRST_QUESTION_MS = 15_000;

const amountOf = (result: DebitResult | RefundResult) => (result.status === 'SUCCESS' ? result.amountCent : undefined);
const refOf = (result: DebitResult | RefundResult) => (result.status === 'SUCCESS' ? result.institutionRef : undefined);

/** Numbers under which the institution is told to do something, once each, and what became of them. */
export class Undertakings<Asked, Terms extends object, Result extends DebitResult | RefundResult> {
  readonly #tools: Tools;
  readonly #manner: Manner<Asked, Terms, Result>;
  readonly #owed: () => void;
  readonly #sending = new Map<string, Asked>();
  readonly #sent = new Shared<string, Result | Pending>();
  readonly #asked = new Shared<string, Result | Pending | NotFound>();

  constructor(tools: Tools, manner: Manner<Asked, Terms, Result>, owed: () => void) {
    this.#tools = tools;
    this.#manner = manner;
    this.#owed = owed;
  }

  /** Takes those that have no result and are due, and asks for them. Whether there may be more. */
  async askForDue(most: number): Promise<boolean> {
    const due = await this.#manner.numbers.takeDue(this.#tools.clock.now(), most);
    await Promise.all(due.map((entry) => this.#asked.run(entry.number, () => this.#settleByAsking(entry))));
    return due.length === most;
  }

  /**
   * What a webhook of the institution said, which may be late, repeated, or earlier than the answer to the call that it is about.
   * False when the book does not have the number.
   */
  async told(number: string, said: Result | Pending): Promise<boolean> {
    const { numbers } = this.#manner;
    if ((await numbers.find(number)) === undefined) return false;
    if (said.status !== 'PENDING') await this.record(number, this.#cleaned(said), 'told-by-notice');
    else if (said.institutionRef !== undefined) await numbers.noteRef(number, said.institutionRef);
    return true;
  }

  async idle(): Promise<void> {
    await Promise.all([this.#sent.idle(), this.#asked.idle()]);
  }

  /** Sends a number once at a time: a request that comes meanwhile gets the same answer. */
  protected async sendShared(
    number: string,
    asked: Asked,
    send: () => Promise<Result | Pending>,
  ): Promise<Result | Pending> {
    const under = this.#sending.get(number);
    if (under !== undefined) this.#manner.requireSame(under, asked);
    const sent = this.#sent.of(number);
    if (sent !== undefined) return sent;
    this.#sending.set(number, asked);
    return this.#sent.run(number, () => send().finally(() => this.#sending.delete(number)));
  }

  /** Shares the answer of whatever is under way for the number. */
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
    const { numbers } = this.#manner;
    const known = await numbers.find(number);
    if (known === undefined) return findLost();
    if (known.result !== undefined) return known.result;
    const entry = await numbers.takeInHand(number, this.#tools.clock.now());
    return entry === undefined ? this.#findResult(number) : this.#settleByAsking(entry);
  }

  /** The book does not have it. The institution has, if the book was lost. */
  protected askLost<Said extends Result | Pending | NotFound>(
    find: (signal: AbortSignal) => Promise<Said>,
  ): Promise<Said> {
    const { calls } = this.#tools;
    return calls.require(`${this.#manner.name}-query`, async (signal) => this.#cleaned(await find(signal)));
  }

  /** The book has it: it is looked for, and paid only if the institution has never seen it and still pays it once. */
  protected async payAgain(number: string, signal: AbortSignal): Promise<Result | Pending> {
    const entry = await this.#manner.numbers.takeInHand(number, this.#tools.clock.now());
    if (entry === undefined) return this.#findResult(number);
    return this.payUnlessFound(entry, signal, () => this.#isRepeatable(entry));
  }

  protected async payUnlessFound(
    entry: Entry<Terms, Result>,
    signal: AbortSignal,
    mayPay: () => boolean = () => true,
  ): Promise<Result | Pending> {
    const { numbers, refuse } = this.#manner;
    const found = await this.#ask(entry, signal, 'answered');
    if (found === undefined) return UNHEARD;
    if (found.status !== 'NOT_FOUND') return found;
    if (!mayPay()) {
      await numbers.leaveOpen(entry.number, 'AS_IT_WAS', undefined);
      return { status: 'PENDING' };
    }
    const refused = refuse?.(entry);
    return refused === undefined ? this.pay(entry, signal) : this.record(entry.number, refused, 'answered');
  }

  /** Of an entry that this process has in hand. */
  protected async pay(entry: Entry<Terms, Result>, signal: AbortSignal): Promise<Result | Pending> {
    const { calls, at, clock } = this.#tools;
    const { name, pay, numbers } = this.#manner;
    const { number } = entry;
    const call = async (aborted: AbortSignal) => this.#cleaned(await pay(entry, aborted));
    const said = await calls.make(name, signal, call, (late) => this.record(number, late, 'told-by-notice'));
    await at('institution-called', number);
    if (said !== undefined) return this.record(number, said, 'answered');
    await numbers.leaveOpen(number, 'OPEN', undefined, clock.now() + FIRST_QUESTION_MS);
    return UNHEARD;
  }

  /** Asks, and never pays. Of an entry that this process has in hand, and keeps if it is not found. Undefined: nobody knows. */
  async #ask(
    entry: Entry<Terms, Result>,
    signal: AbortSignal,
    how: 'answered' | 'told-by-notice',
  ): Promise<Result | Pending | NotFound | undefined> {
    const { name, find, numbers } = this.#manner;
    const said = await this.#tools.calls.make(`${name}-query`, signal, async (aborted) =>
      this.#cleaned(await find(entry, aborted)),
    );
    if (said === undefined) await numbers.leaveOpen(entry.number, 'AS_IT_WAS', undefined);
    if (said === undefined || said.status === 'NOT_FOUND') return said;
    return this.record(entry.number, said, how);
  }

  /** Asks for a number that somebody waits for or a worker has taken, and lets it go. */
  async #settleByAsking(entry: Entry<Terms, Result>): Promise<Result | Pending | NotFound> {
    const said = await this.#ask(entry, this.#tools.calls.deadline(), 'told-by-notice');
    if (said?.status !== 'NOT_FOUND') return said ?? UNHEARD;
    await this.#manner.numbers.leaveOpen(entry.number, 'AS_IT_WAS', undefined);
    return this.#isRepeatable(entry) ? { status: 'NOT_FOUND' } : { status: 'PENDING' };
  }

  /** Whether it may be paid once more if the institution has never seen it. If not, a person has to look. */
  #isRepeatable({ number, begunAt }: Entry<Terms, Result>): boolean {
    const { clock, repeatableForMs, log } = this.#tools;
    const { name } = this.#manner;
    if (clock.now() - begunAt < repeatableForMs[name]) return true;
    log.error(
      { operation: name, about: number },
      'the institution does not know a number that may have been sent to it, and may no longer tell it from a new one: look there',
    );
    return false;
  }

  /** Writes down what the institution said, unless the book knows more. Says what the book knows then. */
  protected async record(
    number: string,
    said: Result | Pending,
    how: 'answered' | 'told-by-notice',
  ): Promise<Result | Pending> {
    const { clock, at } = this.#tools;
    const { numbers, notice } = this.#manner;
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
    return (await this.#manner.numbers.find(number))?.result ?? { status: 'PENDING' };
  }

  async #compare(number: string, told: Result): Promise<Result | Pending> {
    const { log, metrics } = this.#tools;
    const { name } = this.#manner;
    const known = await this.#findResult(number);
    if (known.status === 'PENDING') return known;
    if (known.status !== told.status || amountOf(known) !== amountOf(told)) {
      metrics.countContradiction(name);
      log.error(
        { operation: name, about: number, known: known.status, told: told.status },
        'the institution contradicts a result that is written: the first one stays, look there',
      );
    }
    return known;
  }

  #cleaned<Said extends Result | Pending | NotFound>(said: Said): Said {
    const isResult = said.status !== 'PENDING' && said.status !== 'NOT_FOUND';
    return isResult ? (this.#manner.clean(said as Result) as Said) : said;
  }
}
