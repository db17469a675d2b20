import { OPERATIONS, type Operation } from '@perennial/wire/bridge';

/**
 * What can go wrong on demand. Each fault has a card tail: the last four characters of the bound card, or of a shared
 * agreement number. docs/bridge.md has the same table.
 */
export const FAULTS = [
  { tail: '0001', name: 'decline-retryable', at: 'debit', does: 'declines: RETRYABLE' },
  { tail: '0002', name: 'decline-final', at: 'debit', does: 'declines: FINAL' },
  { tail: '0003', name: 'agreement-invalid', at: 'debit', does: 'declines: AGREEMENT_INVALID' },
  { tail: '0004', name: 'pending-success', at: 'debit', does: 'answers PENDING, debits later, sends a notice' },
  {
    tail: '0005',
    name: 'pending-decline',
    at: 'debit',
    does: 'answers PENDING, declines later (FINAL), sends a notice',
  },
  { tail: '0006', name: 'answer-lost', at: 'any', does: 'debits, then drops the connection without an answer' },
  { tail: '0007', name: 'error-before', at: 'any', does: 'HTTP 500, nothing is debited' },
  { tail: '0008', name: 'error-after', at: 'any', does: 'debits, then HTTP 500' },
  { tail: '0009', name: 'delay', at: 'any', does: 'debits, and answers only after a delay longer than the deadline' },
  { tail: '0010', name: 'duplicate-notice', at: 'debit', does: 'as 0004, and the accepted notice is sent once more' },
  {
    tail: '0011',
    name: 'late-notice',
    at: 'debit',
    does: 'as 0004, but the notice waits until a query has told the result',
  },
  { tail: '0012', name: 'forged-notice', at: 'debit', does: 'as 0004, after a forged notice that says the opposite' },
  { tail: '0013', name: 'wrong-amount', at: 'debit', does: 'debits rightly, but the answer says one cent more' },
  { tail: '0014', name: 'wrong-debit', at: 'debit', does: 'really debits one cent more, and says so' },
  { tail: '0015', name: 'forged-answer', at: 'any', does: 'debits, and signs the answer with another key' },
  { tail: '0016', name: 'garbage-answer', at: 'any', does: 'debits, and answers signed text that is not JSON' },
  { tail: '0017', name: 'oversized-answer', at: 'any', does: 'debits, and answers more than anybody reads' },
  {
    tail: '0018',
    name: 'pending-retryable',
    at: 'debit',
    does: 'answers PENDING, declines later (RETRYABLE), sends a notice',
  },
  { tail: '0019', name: 'refund-refused', at: 'refund', does: 'debits, but refuses every refund of it' },
  { tail: '0020', name: 'refund-pending', at: 'refund', does: 'debits; a refund is PENDING first and succeeds later' },
  {
    tail: '0021',
    name: 'agreement-ended',
    at: 'debit',
    does: 'debits, then ends the agreement and sends a notice of it',
  },
  { tail: '0022', name: 'cancel-refused', at: 'agreement-cancel', does: 'debits, but refuses to cancel the agreement' },
  {
    tail: '0023',
    name: 'refund-pending-refused',
    at: 'refund',
    does: 'debits; a refund is PENDING first and refused later',
  },
  {
    tail: '0024',
    name: 'refund-wrong-amount',
    at: 'refund',
    does: 'debits; refunds rightly, but the answer says one cent more',
  },
  {
    tail: '0025',
    name: 'foreign-channel',
    at: 'debit',
    does: 'debits for the channel that first used the agreement, declines for any other: FINAL',
  },
] as const;

export type FaultName = (typeof FAULTS)[number]['name'];
type Fault = (typeof FAULTS)[number];

/** Set by a control call. What is left out does not narrow it down. */
export interface FaultRule {
  /** `none` keeps a tail of the table from doing anything. */
  readonly fault: FaultName | 'none';
  /** Default: where the fault belongs, a debit for those that can happen anywhere. */
  readonly operation?: Operation;
  readonly tail?: string;
  /** attemptNo or refundNo. */
  readonly number?: string;
  /** How many requests it is for. Default: all, until it is cleared. */
  readonly times?: number;
}

export interface Occasion {
  readonly operation: Operation;
  readonly tail: string | undefined;
  readonly number: string | undefined;
  /** Whether the number arrives for the first time. */
  readonly first: boolean;
}

export interface FaultBook {
  set(rule: FaultRule): void;
  /** Leaves the table of tails as it is. */
  clear(): void;
  /** The fault for this request. Counts it, so it is asked exactly once for each. */
  take(occasion: Occasion): FaultName | undefined;
}

export function faultBook(initial: readonly FaultRule[] = []): FaultBook {
  let rules: { readonly rule: FaultRule; left: number }[] = [];
  const set = (rule: FaultRule) => {
    // The latest first.
    rules.unshift({ rule, left: rule.times ?? Number.POSITIVE_INFINITY });
  };
  for (const rule of initial) set(rule);
  return {
    set,
    clear() {
      rules = [];
    },
    take(occasion) {
      const found = rules.find(({ rule }) => applies(rule, occasion));
      if (found === undefined) return byTail(occasion);
      found.left -= 1;
      if (found.left <= 0) rules = rules.filter((one) => one !== found);
      return found.rule.fault === 'none' ? undefined : found.rule.fault;
    },
  };
}

/** A resend gets its answer: otherwise a card could only ever be asked about. */
function byTail({ operation, tail, first }: Occasion): FaultName | undefined {
  if (!first) return undefined;
  return FAULTS.find((fault) => fault.tail === tail && homeOf(fault) === operation)?.name;
}

function applies(rule: FaultRule, { operation, tail, number }: Occasion): boolean {
  const fault = FAULTS.find(({ name }) => name === rule.fault);
  const home = fault === undefined ? undefined : homeOf(fault);
  return (
    (rule.operation ?? home ?? operation) === operation &&
    (rule.tail ?? tail) === tail &&
    (rule.number ?? number) === number
  );
}

function homeOf({ at }: Fault): Operation {
  return at === 'any' ? 'debit' : at;
}

/** A rule as a control call gives it, or what is wrong with it. */
export function readFaultRule(given: Readonly<Record<string, unknown>>): FaultRule | string {
  const fault = FAULTS.find(({ name }) => name === given['fault']);
  const name = given['fault'] === 'none' ? 'none' : fault?.name;
  if (name === undefined) return `fault must be none or one of ${FAULTS.map((one) => one.name).join(', ')}`;
  const operation = OPERATIONS.find((one) => one === given['operation']);
  if (given['operation'] !== undefined && operation === undefined) {
    return `operation must be one of ${OPERATIONS.join(', ')}`;
  }
  if (operation !== undefined && fault !== undefined && fault.at !== 'any' && fault.at !== operation) {
    return `${fault.name} can happen to ${fault.at} alone`;
  }
  const { tail, number, times } = given;
  if (tail !== undefined && typeof tail !== 'string') return 'tail must be a string';
  if (number !== undefined && typeof number !== 'string') return 'number must be a string';
  if (times !== undefined && !(Number.isSafeInteger(times) && Number(times) > 0)) return 'times must be 1 or more';
  return {
    fault: name,
    ...(operation === undefined ? {} : { operation }),
    ...(tail === undefined ? {} : { tail }),
    ...(number === undefined ? {} : { number }),
    ...(times === undefined ? {} : { times: Number(times) }),
  };
}
