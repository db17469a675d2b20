import type { Book } from './book.js';
import type { Verdict } from './findings.js';
import type { Given } from './given.js';
import { describeSaid } from './outcome-log.js';
import type { RuleName } from './rules.js';

/** An option that was given but could not be used to test anything. */
export interface UnusedOption {
  readonly option: string;
  readonly why: string;
}

/** The rule that each option is meant to test. */
const aims = (given: Given): readonly (readonly [option: string, value: unknown, rule: RuleName])[] => [
  ['--declines RETRYABLE=…', given.declines.RETRYABLE, 'decline-retryable'],
  ['--declines FINAL=…', given.declines.FINAL, 'decline-final'],
  ['--declines AGREEMENT_INVALID=…', given.declines.AGREEMENT_INVALID, 'decline-agreement-invalid'],
  ['--pending', given.pending, 'pending'],
  ['--foreign', given.foreign, 'foreign-agreement'],
  ['--cancel-agreement', given.cancelAgreement, 'cancel'],
  ['--card-file', given.card, 'bind-code'],
  ['--sms-code', given.smsCode, 'bind-confirm'],
  ['--wrong-sms-code', given.wrongSmsCode, 'bind-wrong-code'],
  ['--listen', given.listen, 'notice-sent'],
  ['--statement-day', given.statementDay, 'statement-pages'],
  ['--restart', given.restart, 'restart'],
];

/** Returns the options whose rule could not be tested. A run with such options must not look successful. */
export function findUnusedOptions(given: Given, book: Book, verdicts: readonly Verdict[]): UnusedOption[] {
  const others = aims(given).flatMap(([option, value, rule]) => {
    const untried = verdicts.find((one) => one.rule === rule && one.verdict === 'untried');
    return value === undefined || untried === undefined ? [] : [{ option, why: untried.why ?? '' }];
  });
  return [...findUnusedAgreement(given, book), ...others];
}

/**
 * Checks the debits, because many rules that need `--agreement` can pass even if every debit on the agreement is
 * declined.
 */
function findUnusedAgreement({ agreement }: Given, { attempts }: Book): UnusedOption[] {
  const sent = attempts.filter((one) => one.institutionNo === agreement && one.never === undefined);
  if (agreement === undefined || sent.some(({ said }) => said?.word === 'SUCCESS')) return [];
  const said = sent.findLast((one) => one.said !== undefined)?.said;
  return [
    { option: '--agreement', why: `no debit on it succeeded${said === undefined ? '' : `: ${describeSaid(said)}`}` },
  ];
}
