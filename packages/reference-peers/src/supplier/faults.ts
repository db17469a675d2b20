import { createFaultBook, type FaultBook, readRuleFields } from '../shared/fault-book.js';
import { SUPPLIER_OPERATIONS, type SupplierOperation } from './operations.js';

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

/** Set by a control call. A field that is left out matches every request. */
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
  /** Undefined for a question about a claim that is not known. */
  readonly benefitCode: string | undefined;
}

/** The faults that control calls have set. */
export type SupplierFaults = FaultBook<SupplierFaultRule, SupplierOccasion>;

export function createSupplierFaults(): SupplierFaults {
  return createFaultBook(
    (rule: SupplierFaultRule, { operation, claimNo, benefitCode }: SupplierOccasion) =>
      (rule.operation ?? 'fulfil') === operation &&
      (rule.claimNo ?? claimNo) === claimNo &&
      (rule.benefitCode ?? benefitCode) === benefitCode,
  );
}

/** A rule as a control call gives it, or a text that says what is wrong with it. */
export function readSupplierFaultRule(given: Readonly<Record<string, unknown>>): SupplierFaultRule | string {
  const fault = SUPPLIER_FAULTS.find(({ name }) => name === given['fault'])?.name;
  if (fault === undefined) return `fault must be one of ${SUPPLIER_FAULTS.map(({ name }) => name).join(', ')}`;
  const fields = readRuleFields(given, SUPPLIER_OPERATIONS, ['benefitCode', 'claimNo']);
  return typeof fields === 'string' ? fields : { fault, ...fields };
}
