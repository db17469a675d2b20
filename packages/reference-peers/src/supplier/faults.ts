import type { SupplierOperation } from './operations.js';
import { SUPPLIER_OPERATIONS } from './operations.js';

/** What can go wrong on demand. docs/supplier.md has the same table. */
export const SUPPLIER_FAULTS = [
  { name: 'refuse', does: 'refuses, and keeps nothing' },
  { name: 'error-before', does: 'HTTP 500, nothing is handed out' },
  { name: 'error-after', does: 'hands out a code, then HTTP 500' },
  { name: 'answer-lost', does: 'hands out a code, then drops the connection without an answer' },
  { name: 'delay', does: 'hands out a code, and answers only after a delay longer than the deadline' },
  { name: 'wrong-claim', does: 'hands out a code, and answers with the number of another claim' },
  { name: 'bad-code', does: 'hands out a code, and answers with one that nobody could read' },
  { name: 'forged-answer', does: 'hands out a code, and signs the answer with another key' },
  { name: 'garbage-answer', does: 'hands out a code, and answers signed text that is not JSON' },
  { name: 'oversized-answer', does: 'hands out a code, and answers more than anybody reads' },
] as const;

export type SupplierFault = (typeof SUPPLIER_FAULTS)[number]['name'];

/** Set by a control call. What is left out does not narrow it down. */
export interface SupplierFaultRule {
  readonly fault: SupplierFault;
  /** Default: `fulfil`. */
  readonly operation?: SupplierOperation;
  readonly benefitCode?: string;
  readonly claimNo?: string;
  /** How many requests it is for. Default: all, until it is cleared. */
  readonly times?: number;
}

export interface SupplierOccasion {
  readonly operation: SupplierOperation;
  readonly claimNo: string;
  /** Of a question about a claim that nobody has heard of, nothing. */
  readonly benefitCode: string | undefined;
}

export interface SupplierFaultBook {
  set(rule: SupplierFaultRule): void;
  clear(): void;
  /** The fault for this request. Counts it, so it is asked exactly once for each. */
  take(occasion: SupplierOccasion): SupplierFault | undefined;
}

export function supplierFaultBook(): SupplierFaultBook {
  let rules: { readonly rule: SupplierFaultRule; left: number }[] = [];
  return {
    set(rule) {
      // The latest first.
      rules.unshift({ rule, left: rule.times ?? Number.POSITIVE_INFINITY });
    },
    clear() {
      rules = [];
    },
    take({ operation, claimNo, benefitCode }) {
      const found = rules.find(
        ({ rule }) =>
          (rule.operation ?? 'fulfil') === operation &&
          (rule.claimNo ?? claimNo) === claimNo &&
          (rule.benefitCode ?? benefitCode) === benefitCode,
      );
      if (found === undefined) return undefined;
      found.left -= 1;
      if (found.left <= 0) rules = rules.filter((one) => one !== found);
      return found.rule.fault;
    },
  };
}

/** A rule as a control call gives it, or what is wrong with it. */
export function readSupplierFaultRule(given: Readonly<Record<string, unknown>>): SupplierFaultRule | string {
  const fault = SUPPLIER_FAULTS.find(({ name }) => name === given['fault'])?.name;
  if (fault === undefined) return `fault must be one of ${SUPPLIER_FAULTS.map(({ name }) => name).join(', ')}`;
  const operation = SUPPLIER_OPERATIONS.find((one) => one === given['operation']);
  if (given['operation'] !== undefined && operation === undefined) {
    return `operation must be one of ${SUPPLIER_OPERATIONS.join(', ')}`;
  }
  const { benefitCode, claimNo, times } = given;
  if (benefitCode !== undefined && typeof benefitCode !== 'string') return 'benefitCode must be a string';
  if (claimNo !== undefined && typeof claimNo !== 'string') return 'claimNo must be a string';
  if (times !== undefined && !(Number.isSafeInteger(times) && Number(times) > 0)) return 'times must be 1 or more';
  return {
    fault,
    ...(operation === undefined ? {} : { operation }),
    ...(benefitCode === undefined ? {} : { benefitCode }),
    ...(claimNo === undefined ? {} : { claimNo }),
    ...(times === undefined ? {} : { times: Number(times) }),
  };
}
