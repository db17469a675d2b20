import type { FaultName } from '@perennial/reference-peers';
import fc from 'fast-check';
import type { Crash } from './node.js';

type Value<A> = A extends fc.Arbitrary<infer T> ? T : never;

const DEBIT_FAULTS = [
  'decline-retryable',
  'decline-final',
  'agreement-invalid',
  'pending-success',
  'pending-decline',
  'pending-retryable',
  'answer-lost',
  'error-before',
  'error-after',
  'wrong-amount',
  'forged-answer',
] as const satisfies readonly FaultName[];
export type DebitFault = (typeof DEBIT_FAULTS)[number] | undefined;
const REFUND_FAULTS = [
  'refund-refused',
  'refund-pending',
  'refund-pending-refused',
  'answer-lost',
  'error-before',
  'refund-wrong-amount',
] as const satisfies readonly FaultName[];
export type RefundFault = (typeof REFUND_FAULTS)[number] | undefined;

const number = fc.nat({ max: 11 });
const oneIn = (n: number) => fc.nat({ max: n - 1 }).map((value) => value === n - 1);

const debitFault: fc.Arbitrary<DebitFault> = fc.oneof(
  { weight: 9, arbitrary: fc.constant(undefined) },
  { weight: 3, arbitrary: fc.constant('decline-retryable' as const) },
  { weight: 1, arbitrary: fc.constant('agreement-invalid' as const) },
  { weight: 7, arbitrary: fc.constantFrom(...DEBIT_FAULTS) },
);
const debits = fc.array(debitFault, { minLength: 1, maxLength: 3 });

const crash: fc.Arbitrary<Crash> = fc.record({
  at: fc.constantFrom('commit' as const, 'call' as const),
  nth: fc.oneof({ weight: 2, arbitrary: fc.constant(0) }, { weight: 3, arbitrary: fc.nat({ max: 7 }) }),
  side: fc.constantFrom('before' as const, 'after' as const),
});

/** Returns the step, with a crash in one of five cases. After a crash the caller retries, or the engine recovers. */
function disturbed<T extends object>(
  step: fc.Arbitrary<T>,
): fc.Arbitrary<T & { readonly crash?: Crash; readonly asksAgain: boolean }> {
  return fc
    .tuple(
      step,
      fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: crash }),
      fc.boolean(),
    )
    .map(([one, ends, asksAgain]) => ({ ...one, ...(ends === undefined ? {} : { crash: ends }), asksAgain }));
}

const create = fc.record({
  kind: fc.constant('create' as const),
  mode: fc.constantFrom('A2' as const, 'A2' as const, 'A2' as const, 'A1' as const, 'B' as const),
  product: fc.constantFrom<number[]>(0, 0, 0, 1, 1, 1, 2, 3),
  bank: number,
  /** Whether the order uses the agreement that several orders of the history share. */
  sameAgreement: fc.boolean(),
  debits: fc.oneof({ weight: 3, arbitrary: fc.constant([undefined]) }, { weight: 2, arbitrary: debits }),
  /** Whether the engine runs before the retry after a crash. */
  engineFirst: fc.boolean(),
});
export type Create = Value<typeof create>;

const time = fc.record({
  kind: fc.constant('time' as const),
  /** How far the time moves: to the next step, to the next period or retry, or beyond it as after an outage. */
  to: fc.oneof(
    { weight: 2, arbitrary: fc.constant('next step' as const) },
    { weight: 5, arbitrary: fc.constant('next due' as const) },
    { weight: 1, arbitrary: fc.constant('after a pause' as const) },
  ),
  days: fc.integer({ min: 1, max: 40 }),
  debits,
  query: fc.oneof(
    { weight: 5, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constantFrom('answer-lost' as const, 'error-before' as const) },
  ),
});
export type TimePasses = Value<typeof time>;
export type QueryFault = TimePasses['query'];

const replace = fc
  .record({
    kind: fc.constant('replace' as const),
    order: number,
    bank: number,
    sameAgreement: oneIn(4),
    retry: fc.constantFrom(undefined, true, false),
  })
  .map(({ retry, ...step }) => ({ ...step, ...(retry === undefined ? {} : { retryFailedNow: retry }) }));
export type Replace = Value<typeof replace>;

const unsubscribe = fc.record({
  kind: fc.constant('unsubscribe' as const),
  order: number,
  by: fc.constantFrom('channel' as const, 'channel' as const, 'operations' as const),
});
export type Unsubscribe = Value<typeof unsubscribe>;

const refund = fc.record({
  kind: fc.constant('refund' as const),
  order: number,
  period: number,
  amount: fc.constantFrom('all' as const, 'part' as const, 'part' as const, 'too much' as const),
  share: fc.integer({ min: 1, max: 99 }),
  refund: fc.oneof(
    { weight: 3, arbitrary: fc.constant(undefined) },
    { weight: 2, arbitrary: fc.constantFrom(...REFUND_FAULTS) },
  ),
});
export type Refund = Value<typeof refund>;

/** A notice about a debit. A pending debit gets its result; any other debit gets a repetition or a contradiction. */
const news = fc.record({
  kind: fc.constant('news' as const),
  pick: number,
  notices: fc.nat({ max: 2 }),
  contrary: oneIn(3),
});
export type News = Value<typeof news>;

const agreementEnds = fc.record({
  kind: fc.constant('agreement ends' as const),
  order: number,
  by: fc.constantFrom('institution' as const, 'operations' as const),
  notices: fc.integer({ min: 1, max: 2 }),
});
export type AgreementEnds = Value<typeof agreementEnds>;

/**
 * A step is plain data, so that a history can be printed, shrunk and replayed. The numbers in it select among the
 * orders and agreements that exist.
 */
const step = fc.oneof(
  { weight: 26, arbitrary: disturbed(time) },
  { weight: 9, arbitrary: disturbed(create) },
  { weight: 8, arbitrary: disturbed(replace) },
  { weight: 5, arbitrary: disturbed(unsubscribe) },
  { weight: 6, arbitrary: disturbed(refund) },
  { weight: 6, arbitrary: disturbed(news) },
  { weight: 2, arbitrary: disturbed(agreementEnds) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('retry' as const), order: number }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('resend' as const), pick: number }) },
);
export type Step = Value<typeof step>;

export interface HistoryPlan {
  /** The history's first day, in days after 1 January 2027. Month ends and a leap year follow. */
  readonly day: number;
  readonly second: number;
  readonly steps: readonly Step[];
}

/** Orders that share an agreement from the beginning, so that events of one order affect the others. */
const companions: fc.Arbitrary<Step[]> = fc
  .tuple(
    fc.constantFrom('A1' as const, 'A2' as const),
    fc.array(disturbed(create), { minLength: 2, maxLength: 3, size: 'max' }),
  )
  .map(([mode, creates]) =>
    creates.map((one, index) => ({
      ...one,
      mode,
      sameAgreement: mode === 'A2' || index > 0,
      debits: index === 0 ? [undefined] : one.debits,
    })),
  );

export const anyHistory: fc.Arbitrary<HistoryPlan> = fc
  .record({
    day: fc.oneof(fc.constantFrom(30, 58, 89, 364, 424), fc.nat({ max: 730 })),
    second: fc.nat({ max: 86_399 }),
    begin: fc.oneof(
      { weight: 2, arbitrary: disturbed(create).map((one): Step[] => [one]) },
      { weight: 1, arbitrary: companions },
    ),
    rest: fc.array(step, { minLength: 4, maxLength: 18, size: 'max' }),
  })
  .map(({ begin, rest, ...plan }) => ({ ...plan, steps: [...begin, ...rest] }));
