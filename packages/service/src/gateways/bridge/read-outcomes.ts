import {
  declineKindOf,
  type Fields,
  fieldsOf,
  MAX_TEXT_LENGTH,
  numberOf,
  positiveOf,
  reasonOf,
  STATEMENT_PAGE_LINES,
  textOf,
  timeOf,
} from '@perennial/wire/bridge';
import type {
  BindCodeOutcome,
  BindOutcome,
  CancelOutcome,
  DebitOutcome,
  Decline,
  NotFound,
  Notice,
  RefundOutcome,
  StatementLine,
} from '../gateway.js';

/**
 * These functions turn a bridge's answer into an outcome. Anything but a documented answer becomes `unknown`. If
 * `answer` is undefined, there was no trusted answer.
 */

const UNKNOWN = { kind: 'unknown' } as const;
const NOT_FOUND = { kind: 'not-found' } as const;

export function readBindCodeOutcome(answer: Fields | undefined): BindCodeOutcome {
  if (answer?.['status'] === 'NOT_SENT') return { kind: 'not-sent', reason: reasonOf(answer['reason']) };
  if (answer?.['status'] !== 'SENT') return UNKNOWN;
  const reference = answer['reference'] ?? undefined;
  if (reference === undefined) return { kind: 'sent', reference };
  const text = textOf(reference, MAX_TEXT_LENGTH);
  return text === undefined ? UNKNOWN : { kind: 'sent', reference: text };
}

export function readBindOutcome(answer: Fields | undefined): BindOutcome {
  const reason = reasonOf(answer?.['reason']);
  if (answer?.['status'] === 'WRONG_CODE') return { kind: 'wrong-code', reason };
  if (answer?.['status'] === 'REFUSED') return { kind: 'refused', reason };
  const institutionNo = textOf(answer?.['institutionNo'], MAX_TEXT_LENGTH);
  if (answer?.['status'] !== 'BOUND' || institutionNo === undefined) return UNKNOWN;
  return { kind: 'bound', institutionNo };
}

const readPending = ({ institutionAnswered }: Fields) =>
  institutionAnswered === false ? ({ kind: 'pending', isUnheard: true } as const) : ({ kind: 'pending' } as const);

const DECLINES: ReadonlyMap<unknown, Decline> = new Map<unknown, Decline>([
  ['RETRYABLE', 'retryable'],
  ['FINAL', 'final'],
  ['AGREEMENT_INVALID', 'agreement-invalid'],
]);

/** Returns unknown if the answer has another number: it does not concern this debit, even if it is signed correctly. */
export function readDebitOutcome(answer: Fields | undefined, attemptNo: string): DebitOutcome {
  if (answer?.['attemptNo'] !== attemptNo) return UNKNOWN;
  if (answer['status'] === 'PENDING') return readPending(answer);
  if (answer['status'] === 'DECLINED') {
    const decline = DECLINES.get(answer['decline']);
    if (decline === undefined) return UNKNOWN;
    const declineKind = declineKindOf(answer['declineKind']);
    return { kind: 'declined', decline, ...(declineKind && { declineKind }), reason: reasonOf(answer['reason']) };
  }
  const amountCent = positiveOf(answer['amountCent']);
  const paidAt = timeOf(answer['paidAt']);
  const institutionRef = numberOf(answer['institutionRef']);
  if (answer['status'] !== 'SUCCESS' || amountCent === undefined || paidAt === undefined) return UNKNOWN;
  return institutionRef === undefined ? UNKNOWN : { kind: 'success', paidAt, amountCent, institutionRef };
}

/** NOT_FOUND is a valid answer only to a query. As the answer to a debit it counts as unknown. */
export function readDebitQueryOutcome(answer: Fields | undefined, attemptNo: string): DebitOutcome | NotFound {
  return isNotFound(answer, 'attemptNo', attemptNo) ? NOT_FOUND : readDebitOutcome(answer, attemptNo);
}

export function readRefundOutcome(answer: Fields | undefined, refundNo: string): RefundOutcome {
  if (answer?.['refundNo'] !== refundNo) return UNKNOWN;
  if (answer['status'] === 'PENDING') return readPending(answer);
  if (answer['status'] === 'REFUSED') return { kind: 'refused', reason: reasonOf(answer['reason']) };
  const amountCent = positiveOf(answer['amountCent']);
  const refundedAt = timeOf(answer['refundedAt']);
  if (answer['status'] !== 'SUCCESS' || amountCent === undefined || refundedAt === undefined) return UNKNOWN;
  const institutionRef = numberOf(answer['institutionRef']);
  return { kind: 'success', refundedAt, amountCent, ...(institutionRef && { institutionRef }) };
}

export function readRefundQueryOutcome(answer: Fields | undefined, refundNo: string): RefundOutcome | NotFound {
  return isNotFound(answer, 'refundNo', refundNo) ? NOT_FOUND : readRefundOutcome(answer, refundNo);
}

function isNotFound(answer: Fields | undefined, name: string, number: string): boolean {
  return answer?.['status'] === 'NOT_FOUND' && answer[name] === number;
}

export function readCancelOutcome(answer: Fields | undefined): CancelOutcome {
  if (answer?.['status'] === 'CANCELED') return { kind: 'canceled' };
  if (answer?.['status'] === 'REFUSED') return { kind: 'refused', reason: reasonOf(answer['reason']) };
  return UNKNOWN;
}

/** Returns undefined if the notice has no final outcome or is of an unknown kind. */
export function readNotice(body: Fields): Notice | undefined {
  if (body['kind'] === 'AGREEMENT_CANCELED') {
    const institutionNo = textOf(body['institutionNo'], MAX_TEXT_LENGTH);
    if (institutionNo === undefined) return undefined;
    return { kind: 'agreement-canceled', institutionNo, reason: reasonOf(body['reason']) };
  }
  const attemptNo = numberOf(body['attemptNo']);
  if (body['kind'] !== 'DEBIT' || attemptNo === undefined) return undefined;
  const outcome = readDebitOutcome(body, attemptNo);
  return outcome.kind === 'success' || outcome.kind === 'declined' ? { kind: 'debit', attemptNo, outcome } : undefined;
}

export interface StatementPage {
  readonly lines: readonly StatementLine[];
  readonly nextCursor: string | undefined;
}

/**
 * Returns undefined if the page is not as documented, even in one line, because a reconciliation must not miss a line.
 */
export function readStatementPage(answer: Fields, day: string): StatementPage | undefined {
  const given = answer['lines'];
  if (answer['day'] !== day || !Array.isArray(given) || given.length > STATEMENT_PAGE_LINES) return undefined;
  const lines: StatementLine[] = [];
  for (const one of given) {
    const line = readStatementLine(fieldsOf(one));
    if (line === undefined) return undefined;
    lines.push(line);
  }
  if (answer['nextCursor'] === null) return { lines, nextCursor: undefined };
  const nextCursor = textOf(answer['nextCursor'], MAX_TEXT_LENGTH);
  // A page without lines must be the last page. Otherwise the pages might never end.
  return nextCursor === undefined || lines.length === 0 ? undefined : { lines, nextCursor };
}

const LINE_KINDS: ReadonlyMap<unknown, StatementLine['kind']> = new Map<unknown, StatementLine['kind']>([
  ['DEBIT', 'debit'],
  ['REFUND', 'refund'],
]);
const LINE_STATUSES: readonly StatementLine['status'][] = ['SUCCESS', 'FAIL', 'PENDING'];

function readStatementLine(given: Fields | undefined): StatementLine | undefined {
  const kind = LINE_KINDS.get(given?.['kind']);
  const number = numberOf(given?.['number']);
  const amountCent = positiveOf(given?.['amountCent']);
  const status = LINE_STATUSES.find((one) => one === given?.['status']);
  const bookedAt = timeOf(given?.['bookedAt']);
  const institutionRef = numberOf(given?.['institutionRef']);
  if (kind === undefined || number === undefined || amountCent === undefined) return undefined;
  if (status === undefined || bookedAt === undefined || institutionRef === undefined) return undefined;
  return { kind, number, amountCent, status, bookedAt, institutionRef };
}
