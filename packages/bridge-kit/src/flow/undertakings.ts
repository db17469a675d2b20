import type { Entry, Numbers, OwedNotice } from '../book/numbers.js';
import type { Clock } from '../clock.js';
import type { NotFound, RefLookUp } from '../institution.js';
import type { BridgeLog } from '../log.js';
import type { BridgeMetrics } from '../metrics.js';
import type { Calls } from './calls.js';

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
export const UNHEARD: Pending = { status: 'PENDING', isUnheard: true };

/** As the service is told of it: PENDING alone does not say whether the institution answers. */
export const toPendingMessage = ({ isUnheard }: Pending) =>
  isUnheard ? ({ status: 'PENDING', institutionAnswered: false } as const) : ({ status: 'PENDING' } as const);

/** What a debit and a refund differ in. */
export interface Manner<Terms extends object, Result extends object> {
  readonly name: 'debit' | 'refund';
  readonly numbers: Numbers<Terms, Result>;
  pay(entry: Entry<Terms, Result>, signal: AbortSignal): Promise<Result | Pending>;
  find(entry: Entry<Terms, Result>, signal: AbortSignal): Promise<Result | Pending | NotFound>;
  /** As it is written down; throws when the institution said what the protocol cannot say. */
  clean(result: Result): Result;
  refOf(result: Result): string | undefined;
  /** Whether two results cannot both be true. */
  contradict(one: Result, other: Result): boolean;
  /** Of a result that is not the answer to the request itself. */
  notice(number: string, result: Result): OwedNotice | undefined;
}

const FIRST_QUESTION_MS = 15_000;

/** Numbers under which the institution is told to do something, once each, and what became of them. */
export class Undertakings<Terms extends object, Result extends { readonly status: string }> {
  readonly #tools: Tools;
  readonly #manner: Manner<Terms, Result>;
  readonly #owed: () => void;

  constructor(tools: Tools, manner: Manner<Terms, Result>, owed: () => void) {
    this.#tools = tools;
    this.#manner = manner;
    this.#owed = owed;
  }

  /** Of an entry that this process has in hand. */
  async pay(entry: Entry<Terms, Result>, signal: AbortSignal): Promise<Result | Pending> {
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
  async ask(
    entry: Entry<Terms, Result>,
    signal: AbortSignal,
    how: 'answered' | 'told-by-notice',
  ): Promise<Result | Pending | NotFound | undefined> {
    const { calls } = this.#tools;
    const { name, find, numbers } = this.#manner;
    const said = await calls.make(`${name}-query`, signal, async (aborted) =>
      this.#cleaned(await find(entry, aborted)),
    );
    if (said === undefined) await numbers.leaveOpen(entry.number, 'AS_IT_WAS', undefined);
    if (said === undefined || said.status === 'NOT_FOUND') return said as NotFound | undefined;
    return this.record(entry.number, said as Result | Pending, how);
  }

  /** Asks for a number that somebody waits for or a worker has taken, and lets it go. */
  async settleByAsking(entry: Entry<Terms, Result>, signal: AbortSignal): Promise<Result | Pending | NotFound> {
    const said = await this.ask(entry, signal, 'told-by-notice');
    if (said?.status !== 'NOT_FOUND') return (said as Result | Pending | undefined) ?? UNHEARD;
    await this.#manner.numbers.leaveOpen(entry.number, 'AS_IT_WAS', undefined);
    return this.isRepeatable(entry) ? { status: 'NOT_FOUND' } : { status: 'PENDING' };
  }

  /** Whether it may be paid once more if the institution has never seen it. If not, a person has to look. */
  isRepeatable({ number, begunAt }: Entry<Terms, Result>): boolean {
    const { clock, repeatableForMs, log } = this.#tools;
    const { name } = this.#manner;
    if (clock.now() - begunAt < repeatableForMs[name]) return true;
    log.error(
      { operation: name, about: number },
      'the institution does not know a number that may have been sent to it, and may no longer tell it from a new one: look there',
    );
    return false;
  }

  /** By a webhook, which may be late, repeated, or earlier than the answer to the call that it is about. */
  async told(number: string, said: Result | Pending): Promise<void> {
    if (said.status !== 'PENDING') await this.record(number, this.#cleaned(said), 'told-by-notice');
    else if ('institutionRef' in said && said.institutionRef !== undefined)
      await this.#manner.numbers.noteRef(number, said.institutionRef);
  }

  /** Writes down what the institution said, unless the book knows more. Says what the book knows then. */
  async record(number: string, said: Result | Pending, how: 'answered' | 'told-by-notice'): Promise<Result | Pending> {
    const { clock, at } = this.#tools;
    const { numbers, notice, refOf } = this.#manner;
    if (said.status === 'PENDING') {
      const { institutionRef } = said as Pending;
      await numbers.leaveOpen(
        number,
        'OPEN',
        institutionRef,
        how === 'answered' ? clock.now() + FIRST_QUESTION_MS : undefined,
      );
      const known = await numbers.find(number);
      return known?.result ?? { status: 'PENDING' };
    }
    const result = said as Result;
    const owed = how === 'answered' ? undefined : notice(number, result);
    const isFirst = await numbers.settle(number, result, refOf(result), owed, clock.now());
    await at('result-written', number);
    if (isFirst && owed !== undefined) this.#owed();
    return isFirst ? result : this.#compare(number, result);
  }

  async #compare(number: string, told: Result): Promise<Result | Pending> {
    const { log, metrics } = this.#tools;
    const { name, numbers, contradict } = this.#manner;
    const known = (await numbers.find(number))?.result;
    if (known === undefined) return { status: 'PENDING' };
    if (contradict(known, told)) {
      metrics.countContradiction(name);
      log.error(
        { operation: name, about: number, known: known.status, told: told.status },
        'the institution contradicts a result that is written: the first one stays, look there',
      );
    }
    return known;
  }

  #cleaned<Said extends { readonly status: string }>(said: Said): Said {
    const isResult = said.status !== 'PENDING' && said.status !== 'NOT_FOUND';
    return isResult ? (this.#manner.clean(said as unknown as Result) as unknown as Said) : said;
  }
}
