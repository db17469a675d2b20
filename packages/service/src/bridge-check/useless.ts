import type { Book } from './book.js';
import type { Verdict } from './findings.js';
import type { Given } from './given.js';
import type { RuleName } from './rules.js';
import { describeSaid } from './teller.js';

/** An option that was given, and with which nothing could be tried. */
export interface Useless {
  readonly option: string;
  readonly why: string;
}

/** The rule that each option is given for. */
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

/** Whoever gives an option wants its rule tried: that it could not be must not look like success. */
export function findUseless(given: Given, book: Book, verdicts: readonly Verdict[]): Useless[] {
  const others = aims(given).flatMap(([option, value, rule]) => {
    const untried = verdicts.find((one) => one.rule === rule && one.verdict === 'untried');
    return value === undefined || untried === undefined ? [] : [{ option, why: untried.why ?? '' }];
  });
  return [...findUselessAgreement(given, book), ...others];
}

/** Many of its rules are about what is refused: they can be tried on an agreement that no debit succeeds on. */
function findUselessAgreement({ agreement }: Given, { attempts }: Book): Useless[] {
  const sent = attempts.filter((one) => one.institutionNo === agreement && one.never === undefined);
  if (agreement === undefined || sent.some(({ said }) => said?.word === 'SUCCESS')) return [];
  const said = sent.findLast((one) => one.said !== undefined)?.said;
  return [
    { option: '--agreement', why: `no debit on it succeeded${said === undefined ? '' : `: ${describeSaid(said)}`}` },
  ];
}
