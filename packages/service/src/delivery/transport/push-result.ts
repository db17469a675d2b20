import type { Answer, PartialAnswer } from '../../platform/http-client/answer.js';
import { DeadlinePassed } from '../../platform/http-client/deadline.js';
import { BadAnswer } from '../../platform/http-client/incoming-bytes.js';
import type { DeliveryOutcome } from '../queue/finish-sql.js';
import { ForbiddenAddress } from './addresses.js';

export interface PushResult {
  readonly outcome: DeliveryOutcome;
  readonly httpStatus: number | null;
  /**
   * The first characters of the answer. If no complete answer arrived: why the push failed, and the part that arrived.
   */
  readonly answer: string;
}

/** The maximum number of characters of an answer that are stored. */
const MAX_STORED_CHARS = 200;
const PRINTABLE_ASCII = /^[ -~]*$/;

/**
 * Caches the result of each answer, because a connection returns the same Answer object if the receiver repeats an
 * answer.
 */
const resultsByAnswer = new WeakMap<Answer, PushResult>();

export function resultOfAnswer(answer: Answer): PushResult {
  const known = resultsByAnswer.get(answer);
  if (known) return known;
  const result: PushResult = {
    outcome: isAccepted(answer) ? 'ACCEPTED' : 'REFUSED',
    httpStatus: answer.status,
    answer: toPrintable(answer.body),
  };
  resultsByAnswer.set(answer, result);
  return result;
}

/**
 * Returns true if an answer accepts the event: HTTP 200 and a JSON object whose `code` is the string `0`. A truncated
 * answer does not accept the event, because the rest of the answer is unknown.
 */
export function isAccepted({ status, body, isCut }: Pick<Answer, 'status' | 'body' | 'isCut'>): boolean {
  if (status !== 200 || isCut) return false;
  try {
    const parsed: unknown = JSON.parse(body);
    return typeof parsed === 'object' && parsed !== null && 'code' in parsed && parsed.code === '0';
  } catch {
    return false;
  }
}

export function resultOfError(error: unknown, deadlineMs: number, partial?: PartialAnswer): PushResult {
  if (error instanceof DeadlinePassed) return failedResult('TIMEOUT', `no answer within ${deadlineMs} ms`, partial);
  if (error instanceof ForbiddenAddress) return failedResult('FORBIDDEN', error.message);
  if (error instanceof BadAnswer) return failedResult('REFUSED', error.message, partial);
  return failedResult('UNREACHABLE', reasonOf(error), partial);
}

function failedResult(outcome: DeliveryOutcome, reason: string, partial?: PartialAnswer): PushResult {
  const answer = partial?.body ? `${reason}: ${partial.body}` : reason;
  return { outcome, httpStatus: partial?.status ?? null, answer: toPrintable(answer) };
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  const { cause = error } = error;
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : error.message;
}

/** Replaces characters that PostgreSQL rejects or that control a terminal, because the text is stored and displayed. */
function toPrintable(text: string): string {
  const start = text.slice(0, MAX_STORED_CHARS);
  return PRINTABLE_ASCII.test(start) ? start : start.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, ' ');
}
