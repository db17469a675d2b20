import { trimSlashes } from '@perennial/wire';
import { OPERATIONS } from '@perennial/wire/bridge';
import { parseBridgeAddress } from '../gateways/bridge/bridge-address.js';
import { PlainError } from '../platform/plain-error.js';
import { blankKey } from './blank-key.js';
import { type Attempt, Book, debitedCent, type Left } from './book.js';
import { Caller, isHtml } from './exchange/caller.js';
import { BridgeGone, Findings, NotTried, type Verdict } from './findings.js';
import type { Given } from './given.js';
import { describeSaid, OutcomeLog, unlessUnusable } from './outcome-log.js';
import { NEEDS, RULES, type RuleName } from './rules.js';
import { BINDING_TRIALS, CANCELLATION_TRIALS } from './trials/bindings.js';
import { CURRENCY_TRIAL } from './trials/currency.js';
import { DEBIT_TRIALS } from './trials/debits.js';
import { MESSAGE_TRIALS } from './trials/messages.js';
import { PENDING_TRIALS } from './trials/pending.js';
import { REFUND_TRIALS } from './trials/refunds.js';
import { RESTART_TRIAL } from './trials/restart.js';
import { SIGNATURE_TRIALS } from './trials/signatures.js';
import { createStatementTrial } from './trials/statement.js';
import type { Check, Trial } from './trials/trial.js';
import { findUnusedOptions, type UnusedOption } from './unused-options.js';

export interface Checked {
  readonly prefix: string;
  readonly rules: readonly Verdict[];
  /** The number of debits that succeeded. */
  readonly debited: number;
  /** Debits that were not refunded in full, or whose refund is uncertain. */
  readonly left: readonly Left[];
  readonly useless: readonly UnusedOption[];
}

/** The bridge cannot be tested at all. */
export class BridgeUnreachable extends PlainError {}

const GROUPS: readonly (readonly [name: string, trials: readonly Trial[]])[] = [
  ['currency', [CURRENCY_TRIAL]],
  ['signatures', SIGNATURE_TRIALS],
  ['messages', MESSAGE_TRIALS],
  ['debits', DEBIT_TRIALS],
  ['refunds', REFUND_TRIALS],
  ['bindings and cancellations', [...BINDING_TRIALS, ...CANCELLATION_TRIALS]],
  ['pending debits', PENDING_TRIALS],
];

/** Tests every rule that can be tested with the given options, tries to refund all debits, and returns the verdicts. */
export async function checkBridge(given: Given): Promise<Checked> {
  const startedAt = given.clock.now();
  const { origin, pathname } = parseBridgeAddress(given.url);
  const basePath = trimSlashes(pathname);
  const findings = new Findings();
  const book = new Book(given.prefix);
  const { key, clock, currency, deadlines, peers } = given;
  const caller = new Caller({ origin, basePath, key, currency, clock, deadlines, findings, peers });
  const outcomes = new OutcomeLog({ given, book, caller, findings });
  const check: Check = { given, findings, caller, outcomes, book };
  let left: Left[] = [];
  let isGone = false;
  try {
    await requireBridge(check);
    for (const [name, trials] of GROUPS) {
      given.progress(name);
      for (const trial of trials) await runTrial(check, trial);
    }
    given.progress('what became of every number');
    left = await settleAll(check);
    given.progress('the statement');
    await runTrial(check, createStatementTrial(startedAt));
    await runTrial(check, RESTART_TRIAL);
    left.push(
      ...(await giveBack(
        check,
        book.attempts.filter(({ once }) => once === 'restart'),
      )),
    );
  } catch (error) {
    if (!(error instanceof BridgeGone)) throw error;
    isGone = true;
    for (const { name } of RULES) findings.leave(name, error.message);
    left = book.attempts.filter((one) => isOpen(book, one)).map((one) => toLeft(one, error.message));
  }
  const twice = book.attempts.filter((one) => one.isTwice).map((one) => toLeft(one, 'it was debited more than once'));
  const rules = findings.verdicts();
  const useless = isGone ? [] : findUnusedOptions(given, book, rules);
  const debited = book.attempts.filter((one) => debitedCent(one) > 0).length;
  const blank = <T extends { readonly why?: string }>(one: T): T =>
    one.why === undefined ? one : { ...one, why: blankKey(one.why, key) };
  return {
    ...{ prefix: given.prefix, debited },
    rules: rules.map(blank),
    left: [...left, ...twice].map(blank),
    useless: useless.map(blank),
  };
}

/** Throws if no bridge answers, or if it accepts no request with this key. */
async function requireBridge(check: Check): Promise<void> {
  const { caller, outcomes, findings, given } = check;
  const plain = outcomes.queryOf(outcomes.unsent());
  const asking = { ...plain, blame: 'debit-query-unknown' } as const;
  const message = caller.compose(asking);
  const arrival = await caller.send('debit-query', message);
  if (arrival.kind === 'unreachable') {
    throw new BridgeUnreachable(`nothing answers at ${given.url}: ${arrival.why}`);
  }
  const status = arrival.kind === 'answer' ? arrival.status : undefined;
  if (status === 404 && (await isNothingThere(check))) {
    findings.judge('status-200', false, `${NO_BRIDGE}: every operation is answered with HTTP 404`);
    throw new BridgeGone(NO_BRIDGE);
  }
  if (status === 409) await runTrial(check, CURRENCY_TRIAL);
  const isRefused = status === 401;
  await unlessUnusable(Promise.resolve().then(() => caller.read(isRefused ? plain : asking, message, arrival)));
  if (findings.isBroken('signature-taken')) throw new BridgeGone('the bridge accepts no request with this key');
  // Checks only statuses below 400: a web page with an error status may come from a real bridge that has failed.
  if (arrival.kind === 'answer' && arrival.status < 400 && isHtml(arrival))
    throw new BridgeGone('a web page answers there, not a bridge');
}

const NO_BRIDGE = 'there is no bridge at this path';

/** Sends unsigned requests: a bridge may wrongly answer 404 to an unknown number, but hardly to a missing signature. */
async function isNothingThere({ caller }: Check): Promise<boolean> {
  for (const operation of OPERATIONS) {
    const message = caller.compose({ operation, body: {}, twist: { signature: () => undefined } });
    const arrival = await caller.send(operation, message);
    if (arrival.kind !== 'answer' || arrival.status !== 404) return false;
  }
  return true;
}

async function runTrial(check: Check, { rules, run }: Trial): Promise<void> {
  const { given, findings } = check;
  const isPossible = (rule: RuleName): boolean => {
    const needs = RULES.find(({ name }) => name === rule)?.needs;
    if (needs === undefined || NEEDS[needs].isGiven(given)) return true;
    findings.leave(rule, `not given: ${NEEDS[needs].option}`);
    return false;
  };
  if (rules.filter(isPossible).length === 0) return;
  try {
    await run(check);
  } catch (error) {
    if (!(error instanceof NotTried)) throw error;
    for (const rule of rules) findings.leave(rule, error.message);
  }
}

/**
 * Queries every number again, tries to refund all debits, and returns the debits that were possibly not refunded in
 * full.
 */
async function settleAll(check: Check): Promise<Left[]> {
  const { book, outcomes } = check;
  for (const attempt of book.attempts) await unlessUnusable(judgeInTheEnd(check, attempt));
  for (const refund of book.refunds) await unlessUnusable(outcomes.untilSettled(refund));
  return giveBack(check, book.attempts);
}

async function judgeInTheEnd({ outcomes, findings }: Check, attempt: Attempt): Promise<void> {
  const { word } = await outcomes.query(attempt);
  const { never, attemptNo } = attempt;
  if (never !== undefined) findings.judge(never, word === 'NOT_FOUND', `${attemptNo} was passed on: it is ${word}`);
}

async function giveBack({ outcomes, book }: Check, attempts: readonly Attempt[]): Promise<Left[]> {
  const owed = attempts.filter((one) => book.remainingCent(one) > 0);
  const refunds = owed.map((one) => outcomes.newRefund(one, book.remainingCent(one)));
  // Sends all refunds before it waits, so that pending refunds settle in parallel.
  for (const refund of refunds) await unlessUnusable(outcomes.refund(refund));
  for (const refund of refunds) await unlessUnusable(outcomes.untilSettled(refund));
  return attempts.filter((one) => isOpen(book, one)).map((one) => toLeft(one, whyLeft(book, one)));
}

function whyLeft({ refunds }: Book, attempt: Attempt): string {
  const { said } = attempt;
  if (said === undefined) return 'its outcome is unknown';
  const refund = refunds.findLast((one) => one.attempt === attempt);
  const answered =
    refund && `, its refund ${refund.said === undefined ? 'without an answer' : describeSaid(refund.said)}`;
  return `${describeSaid(said)}${answered ?? ''}`;
}

/** Returns true if the attempt may have been debited and not refunded. */
function isOpen(book: Book, attempt: Attempt): boolean {
  const { said, never } = attempt;
  if (said === undefined) return never === undefined;
  return said.word === 'PENDING' || book.givenBackCent(attempt) < debitedCent(attempt);
}

function toLeft({ attemptNo, institutionNo }: Attempt, why: string): Left {
  return { attemptNo, institutionNo, why };
}
