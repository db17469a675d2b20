import type { Operation } from '@perennial/wire/bridge';
import { createFaultBook, type FaultBook } from '../fault-book.js';

/**
 * The faults that tests can cause. A request gets a fault if its bound card or its shared agreement number ends in the
 * fault's tail. docs/bridge.md has the same table.
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
  { tail: '0009', name: 'delay', at: 'any', does: 'debits and answers after the deadline' },
  { tail: '0010', name: 'duplicate-notice', at: 'debit', does: 'as 0004, and repeats the accepted notice' },
  {
    tail: '0011',
    name: 'late-notice',
    at: 'debit',
    does: 'as 0004, but sends the notice after a query has returned the result',
  },
  { tail: '0012', name: 'forged-notice', at: 'debit', does: 'as 0004, after a forged notice with the opposite result' },
  { tail: '0013', name: 'wrong-amount', at: 'debit', does: 'debits the right amount, but answers one cent more' },
  { tail: '0014', name: 'wrong-debit', at: 'debit', does: 'debits one cent more and reports that amount' },
  { tail: '0015', name: 'forged-answer', at: 'any', does: 'debits, and signs the answer with another key' },
  { tail: '0016', name: 'garbage-answer', at: 'any', does: 'debits, and answers signed text that is not JSON' },
  { tail: '0017', name: 'oversized-answer', at: 'any', does: 'debits and answers with more bytes than allowed' },
  {
    tail: '0018',
    name: 'pending-retryable',
    at: 'debit',
    does: 'answers PENDING, declines later (RETRYABLE), sends a notice',
  },
  { tail: '0019', name: 'refund-refused', at: 'refund', does: 'debits, but refuses every refund of it' },
  { tail: '0020', name: 'refund-pending', at: 'refund', does: 'debits; refunds are PENDING first and succeed later' },
  {
    tail: '0021',
    name: 'agreement-ended',
    at: 'debit',
    does: 'debits, then ends the agreement and sends a notice',
  },
  { tail: '0022', name: 'cancel-refused', at: 'agreement-cancel', does: 'debits, but refuses to cancel the agreement' },
  {
    tail: '0023',
    name: 'refund-pending-refused',
    at: 'refund',
    does: 'debits; refunds are PENDING first and refused later',
  },
  {
    tail: '0024',
    name: 'refund-wrong-amount',
    at: 'refund',
    does: 'debits; refunds the right amount, but answers one cent more',
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

/** A rule set by a control call. An omitted field matches every request. */
export interface FaultRule {
  /** `none` disables the fault that the table has for a card tail. */
  readonly fault: FaultName | 'none';
  /** Default: the operation that the table names for the fault, or debit if the table allows any operation. */
  readonly operation?: Operation;
  readonly tail?: string;
  /** attemptNo or refundNo. */
  readonly number?: string;
  /** The number of requests to which the rule applies. Default: all, until the rules are cleared. */
  readonly times?: number;
}

export interface FaultOccasion {
  readonly operation: Operation;
  readonly tail: string | undefined;
  readonly number: string | undefined;
  /** True if the number arrives for the first time. */
  readonly first: boolean;
}

/**
 * The faults. `set` and `clear` change only the rules of control calls. If no rule matches a request, the table of card
 * tails applies.
 */
export interface InstitutionFaults extends Pick<FaultBook<FaultRule, FaultOccasion>, 'set' | 'clear'> {
  /** Returns the fault for this request, or undefined. Counts the request, so call it exactly once per request. */
  take(occasion: FaultOccasion): FaultName | undefined;
}

export function createInstitutionFaults(initial: readonly FaultRule[] = []): InstitutionFaults {
  const { set, clear, take } = createFaultBook(ruleApplies);
  for (const rule of initial) set(rule);
  return {
    set,
    clear,
    take(occasion) {
      const rule = take(occasion);
      if (rule === undefined) return findFaultByTail(occasion);
      return rule.fault === 'none' ? undefined : rule.fault;
    },
  };
}

/** Returns the fault of a card tail, but only for a number's first request: otherwise no retry could succeed. */
function findFaultByTail({ operation, tail, first }: FaultOccasion): FaultName | undefined {
  if (!first) return undefined;
  return FAULTS.find((fault) => fault.tail === tail && defaultOperation(fault) === operation)?.name;
}

function ruleApplies(rule: FaultRule, { operation, tail, number }: FaultOccasion): boolean {
  const fault = FAULTS.find(({ name }) => name === rule.fault);
  const usual = fault === undefined ? undefined : defaultOperation(fault);
  return (
    (rule.operation ?? usual ?? operation) === operation &&
    (rule.tail ?? tail) === tail &&
    (rule.number ?? number) === number
  );
}

function defaultOperation({ at }: Fault): Operation {
  return at === 'any' ? 'debit' : at;
}

export const isFault = (name: unknown): boolean => name === 'none' || FAULTS.some((fault) => fault.name === name);
