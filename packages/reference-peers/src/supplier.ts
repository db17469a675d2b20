import { BadMessage, NumberConflict, requireField } from '@perennial/bridge-kit/server';
import { randomBytes } from '@perennial/wire';
import { type Fields, numberOf, positiveOf } from '@perennial/wire/bridge';
import { createFaultBook } from './fault-book.js';
import {
  addLocalRoutes,
  type Clock,
  createFaultyServer,
  createTimers,
  listenOrStop,
  openPeerBook,
  type PreparedRequest,
  type ReferenceProgram,
  type ReferenceProgramOptions,
} from './peer.js';

/** The operations of a supplier: docs/supplier.md. */
export const SUPPLIER_OPERATIONS = ['fulfil', 'fulfil-query'] as const;
type SupplierOperation = (typeof SUPPLIER_OPERATIONS)[number];

/** The faults that tests can cause. docs/supplier.md has the same table. */
export const SUPPLIER_FAULTS = [
  { name: 'refuse', does: 'refuses and stores nothing' },
  { name: 'error-before', does: 'HTTP 500, no code is issued' },
  { name: 'error-after', does: 'issues a code, then HTTP 500' },
  { name: 'answer-lost', does: 'issues a code, then drops the connection without an answer' },
  { name: 'delay', does: 'issues a code and answers after the deadline' },
  { name: 'wrong-claim', does: 'issues a code and answers with another claim’s number' },
  { name: 'bad-code', does: 'issues a code and answers with an unreadable one' },
  { name: 'forged-answer', does: 'issues a code and signs the answer with another key' },
  { name: 'garbage-answer', does: 'issues a code and answers signed text that is not JSON' },
  { name: 'oversized-answer', does: 'issues a code and answers with more bytes than allowed' },
] as const;

type SupplierFault = (typeof SUPPLIER_FAULTS)[number]['name'];

/** A rule set by a control call. An omitted field matches every request. */
interface SupplierFaultRule {
  readonly fault: SupplierFault;
  /** Default: `fulfil`. */
  readonly operation?: SupplierOperation;
  readonly benefitCode?: string;
  readonly claimNo?: string;
  /** The number of requests to which the rule applies. Default: all, until the rules are cleared. */
  readonly times?: number;
}

interface SupplierOccasion {
  readonly operation: SupplierOperation;
  readonly claimNo: string;
  /** Undefined if the request is a query for an unknown claim. */
  readonly benefitCode: string | undefined;
}

/** The terms of a claim. A claim number must always have the same terms. */
interface ClaimTerms {
  readonly claimNo: string;
  readonly benefitCode: string;
  readonly faceValueCent: number;
  readonly orderNo: string;
  readonly cycleNo: number;
  /** The claim number of the code that this code replaces. The supplier no longer honours that code. */
  readonly replaces?: string;
}

type PreparedClaim = PreparedRequest<SupplierOccasion, SupplierFault>;

const LEDGER_FILE = 'ledger.jsonl';

/** How long the fault `delay` delays an answer, unless a control call changes it. */
const DEFAULT_ANSWER_MS = 15_000;

/** Starts a supplier that speaks the protocol of docs/supplier.md. It issues worthless codes and records them. */
export async function startSupplier(options: ReferenceProgramOptions): Promise<ReferenceProgram> {
  const { key, clock } = options;
  const book = openPeerBook(options, LEDGER_FILE);
  const ledger = {
    handedOut: book.table<ClaimTerms & { readonly code: string; readonly at: number }>('handedOut'),
    /** Refused claims, by claim number with the last reason. */
    refused: book.table<string>('refused'),
    arrivals: book.table<number>('arrivals'),
  };
  let answerMs = DEFAULT_ANSWER_MS;
  const timers = createTimers();
  const faults = createFaultBook<SupplierFaultRule, SupplierOccasion>(
    (rule, { operation, claimNo, benefitCode }) =>
      (rule.operation ?? 'fulfil') === operation &&
      (rule.claimNo ?? claimNo) === claimNo &&
      (rule.benefitCode ?? benefitCode) === benefitCode,
  );
  const server = createFaultyServer({
    key,
    clock,
    operations: SUPPLIER_OPERATIONS,
    prepare: (operation, fields, idempotencyKey) =>
      operation === 'fulfil' ? fulfil(ledger, clock, fields, idempotencyKey) : query(ledger, fields),
    takeFault: (occasion) => faults.take(occasion)?.fault,
    timers,
    answerMs: () => answerMs,
  });
  if (options.control === true) {
    addLocalRoutes(server, {
      describeLedger: () => describeLedger(ledger),
      faults,
      isFault: (name) => SUPPLIER_FAULTS.some((fault) => fault.name === name),
      control(fields) {
        if (fields['action'] !== 'delay') return undefined;
        answerMs = Number(fields['answerMs']);
        return { answerMs };
      },
    });
  }

  const stop = async (): Promise<void> => {
    timers.stop();
    await server.close();
    book.close();
  };
  return { url: await listenOrStop(server, options, stop), stop };
}

interface SupplierLedger {
  readonly handedOut: Map<string, ClaimTerms & { readonly code: string; readonly at: number }>;
  readonly refused: Map<string, string>;
  readonly arrivals: Map<string, number>;
}

/** Issues a code for a claim number. A repeated request gets the same code. */
function fulfil(
  { handedOut, refused, arrivals }: SupplierLedger,
  clock: Clock,
  fields: Fields,
  idempotencyKey: string | undefined,
): PreparedClaim {
  const claim: ClaimTerms = {
    claimNo: requireField(numberOf(fields['claimNo']), 'claimNo'),
    benefitCode: requireField(numberOf(fields['benefitCode']), 'benefitCode'),
    faceValueCent: requireField(readCents(fields['faceValueCent']), 'faceValueCent'),
    orderNo: requireField(numberOf(fields['orderNo']), 'orderNo'),
    cycleNo: requireField(positiveOf(fields['cycleNo']), 'cycleNo'),
    ...(fields['replaces'] === undefined ? {} : { replaces: requireField(numberOf(fields['replaces']), 'replaces') }),
  };
  const { claimNo, benefitCode, faceValueCent } = claim;
  if (idempotencyKey !== claimNo) throw new BadMessage('header Idempotency-Key must be the claimNo');
  const recordArrival = () => void arrivals.set(claimNo, (arrivals.get(claimNo) ?? 0) + 1);
  return {
    occasion: { operation: 'fulfil', claimNo, benefitCode },
    recordArrival,
    run(fault) {
      recordArrival();
      const before = handedOut.get(claimNo);
      if (before !== undefined) {
        if (before.benefitCode === benefitCode && before.faceValueCent === faceValueCent) {
          return alterAnswer({ claimNo, status: 'FULFILLED', code: before.code }, fault);
        }
        throw new NumberConflict('this claimNo was used for another benefit or value');
      }
      if (fault === 'refuse') {
        refused.set(claimNo, 'sold out');
        return { claimNo, status: 'REFUSED', reason: 'sold out' };
      }
      const code = `RS-${Buffer.from(randomBytes(8)).toString('hex').toUpperCase()}`;
      handedOut.set(claimNo, { ...claim, code, at: clock.now() });
      refused.delete(claimNo);
      return alterAnswer({ claimNo, status: 'FULFILLED', code }, fault);
    },
  };
}

function query({ handedOut, refused }: SupplierLedger, fields: Fields): PreparedClaim {
  const claimNo = requireField(numberOf(fields['claimNo']), 'claimNo');
  const known = handedOut.get(claimNo);
  return {
    occasion: { operation: 'fulfil-query', claimNo, benefitCode: known?.benefitCode },
    run(fault) {
      if (known !== undefined) return alterAnswer({ claimNo, status: 'FULFILLED', code: known.code }, fault);
      const reason = refused.get(claimNo);
      return reason === undefined ? { claimNo, status: 'UNKNOWN' } : { claimNo, status: 'REFUSED', reason };
    },
  };
}

/** Reads a face value, which may be 0. */
function readCents(value: unknown): number | undefined {
  return value === 0 ? 0 : positiveOf(value);
}

/** Returns the answer with the fault's error in it. The wrong answer is signed correctly. */
function alterAnswer(answer: object, fault: SupplierFault | undefined): object {
  if (fault === 'wrong-claim') return { ...answer, claimNo: 'C1' };
  return fault === 'bad-code' ? { ...answer, code: 'two\nlines' } : answer;
}

/** Returns all issued codes, all refusals, and how often each number arrived. */
function describeLedger({ handedOut, refused, arrivals }: SupplierLedger): object {
  return {
    handedOut: [...handedOut.values()].map((one) => ({ ...one, arrivals: arrivals.get(one.claimNo) ?? 0 })),
    refused: [...refused].map(([claimNo, reason]) => ({ claimNo, reason, arrivals: arrivals.get(claimNo) ?? 0 })),
  };
}
