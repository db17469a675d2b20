import { formatTime } from '@perennial/wire';
import {
  type Fields,
  fieldsOf,
  type LineMessage,
  MAX_TEXT_LENGTH,
  STATEMENT_PAGE_LINES,
  textOf,
} from '@perennial/wire/bridge';
import { type Attempt, amountOf, type Refund } from '../book.js';
import { findWrongField, LINE, show } from '../exchange/answers.js';
import type { Said } from '../exchange/caller.js';
import { NotTried } from '../findings.js';
import type { RuleName } from '../rules.js';
import type { Check, Trial } from './trial.js';

/** The statement's lines about this run. Other lines are not kept here, because a real day may have millions. */
type OwnLines = Map<string, LineMessage[]>;

const keyOf = (kind: string, number: string): string => `${kind} ${number}`;
export const toDay = (at: number): string => formatTime(at).slice(0, 10);

/**
 * Reads the statement of the run, and compares it with the reported outcome of every number. If a past day is given,
 * only checks its statement.
 */
export function createStatementTrial(startedAt: number): Trial {
  return {
    rules: ['statement-pages', 'statement-lines', 'statement-day', 'statement-once', 'statement-complete'],
    run: async (check) => {
      const { given } = check;
      const own: OwnLines = new Map();
      const days = new Set([toDay(startedAt), toDay(given.clock.now())]);
      for (const day of given.statementDay === undefined ? days : [given.statementDay]) {
        await readDay(check, day, own);
      }
      if (given.statementDay !== undefined) {
        check.findings.leave(
          'statement-complete',
          `the statement of ${given.statementDay} was read, not that of this run`,
        );
        return;
      }
      for (const attempt of check.book.attempts) judgeAttempt(check, attempt, own);
      for (const refund of check.book.refunds) judgeRefund(check, refund, own);
    },
  };
}

async function readDay(check: Check, day: string, own: OwnLines): Promise<void> {
  const { caller, findings, given } = check;
  const cursors = new Set<string>();
  const seen = new Set<string>();
  for (let cursor: string | null = null; ; ) {
    const { fields }: Said = await caller.ask({ operation: 'statement', body: { day, cursor } });
    findings.judge('statement-day', fields['day'] === day, `requested ${day}, answered day ${show(fields['day'])}`);
    const lines = Array.isArray(fields['lines']) ? fields['lines'] : undefined;
    if (!findings.judge('statement-lines', lines !== undefined, 'a page has no lines')) throw new NotTried('no lines');
    for (const line of lines ?? []) readLine(check, day, fieldsOf(line) ?? {}, { own, seen, prefix: given.prefix });
    const next = fields['nextCursor'];
    const flaw = findPageFlaw(lines?.length ?? 0, next, cursors);
    if (!findings.judge('statement-pages', flaw === undefined, flaw ?? '')) throw new NotTried('the pages do not end');
    if (next === null) return;
    cursor = String(next);
    cursors.add(cursor);
  }
}

function findPageFlaw(lines: number, next: unknown, cursors: ReadonlySet<string>): string | undefined {
  if (lines > STATEMENT_PAGE_LINES) return `a page has ${lines} lines`;
  if (next === null) return undefined;
  if (textOf(next, MAX_TEXT_LENGTH) === undefined) return `nextCursor is ${show(next)}`;
  if (lines === 0) return 'a page without lines has a nextCursor';
  return cursors.has(String(next)) ? 'a cursor leads back to an earlier page' : undefined;
}

interface Reading {
  readonly own: OwnLines;
  readonly seen: Set<string>;
  readonly prefix: string;
}

function readLine({ findings }: Check, day: string, given: Fields, { own, seen, prefix }: Reading): void {
  const wrong = findWrongField(given, LINE);
  const flaw = `a line has ${wrong} ${show(given[wrong ?? ''])}`;
  // Throws after an unreadable line, because an incomplete statement must not be taken for a complete one.
  if (!findings.judge('statement-lines', wrong === undefined, flaw)) throw new NotTried('a line cannot be read');
  const { kind, number, institutionRef } = given as unknown as LineMessage;
  const bookedOn = toDay(Number(given['bookedAt']));
  findings.judge(
    'statement-day',
    bookedOn === day,
    `the statement of ${day} has a line that was booked on ${bookedOn}`,
  );
  const key = keyOf(kind, number);
  // Includes the reference, because a number with two references is not a repeated line. The trial that sent the number
  // judges the two references.
  const line = `${key} ${institutionRef}`;
  if (!findings.judge('statement-once', !seen.has(line), `${kind} ${show(number)} is there twice`)) return;
  seen.add(line);
  if (number.startsWith(prefix)) own.set(key, [...(own.get(key) ?? []), given as unknown as LineMessage]);
}

function judgeAttempt({ findings }: Check, attempt: Attempt, own: OwnLines): void {
  const { attemptNo, said, never, once } = attempt;
  const booked = bookedLines(own, 'DEBIT', attemptNo);
  if (never !== undefined) {
    findings.judge(never, booked.length === 0, `${attemptNo} was debited: it is in the statement`);
    return;
  }
  attempt.isTwice ||= booked.length > 1;
  const twice = `${attemptNo} was debited ${booked.length} times: so it is in the statement`;
  findings.judge(once ?? 'statement-once', booked.length <= 1, twice);
  if (said?.word === 'DECLINED') {
    findings.judge('result-stays', booked.length === 0, `${attemptNo} was DECLINED, and is debited in the statement`);
  } else if (said?.word === 'SUCCESS') {
    judgeBooked(findings, 'debit-amount', said, booked, attemptNo);
  } else if (said?.word === 'NOT_FOUND') {
    findings.judge('debit-query-known', booked.length === 0, `${attemptNo} is NOT_FOUND, and is in the statement`);
  }
}

function judgeRefund({ findings }: Check, { refundNo, said, once }: Refund, own: OwnLines): void {
  const booked = bookedLines(own, 'REFUND', refundNo);
  const twice = `${refundNo} was refunded ${booked.length} times: so it is in the statement`;
  findings.judge(once ?? 'statement-once', booked.length <= 1, twice);
  if (said?.word === 'REFUSED') {
    findings.judge('statement-complete', booked.length === 0, `${refundNo} was REFUSED, and is in the statement`);
  } else if (said?.word === 'SUCCESS') judgeBooked(findings, 'refund-amount', said, booked, refundNo);
}

function judgeBooked(
  findings: Check['findings'],
  rule: RuleName,
  { fields }: Said,
  booked: readonly LineMessage[],
  number: string,
): void {
  const [line] = booked;
  findings.judge('statement-complete', line !== undefined, `${number} is not in the statement as SUCCESS`);
  if (line === undefined || booked.length > 1) return;
  const seen = `${number}: ${amountOf(fields)} by the answer, ${line.amountCent} in the statement`;
  findings.judge(rule, line.amountCent === amountOf(fields), seen);
}

function bookedLines(own: OwnLines, kind: string, number: string): LineMessage[] {
  return (own.get(keyOf(kind, number)) ?? []).filter(({ status }) => status === 'SUCCESS');
}
