import { DECLINES } from '@perennial/wire/bridge';
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

const DECLINE_RULES = {
  RETRYABLE: 'decline-retryable',
  FINAL: 'decline-final',
  AGREEMENT_INVALID: 'decline-agreement-invalid',
} as const;

/** The rule that each option is given for. */
function aims(given: Given): readonly (readonly [option: string, isGiven: boolean, rule: RuleName])[] {
  const declines = DECLINES.map(
    (kind) => [`--declines ${kind}=…`, given.declines[kind] !== undefined, DECLINE_RULES[kind]] as const,
  );
  return [
    ...declines,
    ['--pending', given.pending !== undefined, 'pending'],
    ['--foreign', given.foreign !== undefined, 'foreign-agreement'],
    ['--cancel-agreement', given.cancelAgreement !== undefined, 'cancel'],
    ['--card-file', given.card !== undefined, 'bind-code'],
    ['--sms-code', given.smsCode !== undefined, 'bind-confirm'],
    ['--wrong-sms-code', given.wrongSmsCode !== undefined, 'bind-wrong-code'],
    ['--listen', given.listen !== undefined, 'notice-sent'],
    ['--statement-day', given.statementDay !== undefined, 'statement-pages'],
    ['--restart', given.restart !== undefined, 'restart'],
  ];
}

/** Whoever gives an option wants its rule tried: that it could not be must not look like success. */
export function findUseless(given: Given, book: Book, verdicts: readonly Verdict[]): Useless[] {
  const untried = new Map(verdicts.filter(({ verdict }) => verdict === 'untried').map((one) => [one.rule, one.why]));
  const others = aims(given)
    .filter(([, isGiven, rule]) => isGiven && untried.has(rule))
    .map(([option, , rule]) => ({ option, why: untried.get(rule) ?? '' }));
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
