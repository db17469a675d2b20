import type { WireDecline } from '@perennial/wire/bridge';
import type { Attempt } from '../book.js';
import type { Said } from '../exchange/caller.js';
import { describeSaid, unlessUnusable } from '../outcome-log.js';
import type { RuleName } from '../rules.js';
import type { Check, Trial } from './trial.js';

const AT_ONCE = 5;

export const DEBIT_TRIALS: readonly Trial[] = [
  {
    rules: ['debit-query-unknown'],
    run: async ({ caller, outcomes, findings, given }) => {
      const unsent = outcomes.unsent();
      const said = await caller.ask({ ...outcomes.queryOf(unsent), blame: 'debit-query-unknown' });
      judgeWord(findings, 'debit-query-unknown', said, 'NOT_FOUND', 'a number that was never sent');
      if (given.agreement === undefined) return;
      const attempt = outcomes.newAttempt({ attemptNo: unsent.attemptNo });
      await outcomes.debit(attempt, { ...outcomes.debitOf(attempt), blame: 'debit-query-unknown' });
    },
  },
  {
    rules: ['debit-asked', 'debit-amount', 'debit-query-known', 'result-stays'],
    run: async ({ outcomes }) => {
      await outcomes.query(await outcomes.debitedOnce());
    },
  },
  {
    rules: ['debit-repeated'],
    run: async ({ outcomes, findings }) => {
      const attempt = await outcomes.debitedOnce({ once: 'debit-repeated' });
      for (let times = 0; times < 2; times += 1) {
        const { word } = await outcomes.debit(attempt);
        findings.judge('debit-repeated', word === 'SUCCESS', `the repetition was answered ${word}`);
      }
    },
  },
  {
    rules: ['debit-at-once'],
    run: async ({ outcomes, findings }) => {
      const attempt = outcomes.newAttempt({ once: 'debit-at-once' });
      await Promise.all(Array.from({ length: AT_ONCE }, () => unlessUnusable(outcomes.debit(attempt))));
      await outcomes.requireDebited(attempt);
      await outcomes.query(attempt);
      findings.judge('debit-at-once', true, '');
    },
  },
  {
    rules: ['debit-other-amount'],
    run: async (check) => {
      const attempt = await check.outcomes.debitedOnce({ once: 'debit-other-amount' });
      await conflict(check, attempt, { amountCent: attempt.askedCent + 1 }, 'debit-other-amount');
    },
  },
  {
    rules: ['debit-other-agreement'],
    run: async (check) => {
      const attempt = await check.outcomes.debitedOnce({ once: 'debit-other-agreement' });
      await conflict(check, attempt, { institutionNo: `${attempt.institutionNo}-other` }, 'debit-other-agreement');
    },
  },
  {
    rules: ['debit-hang-up'],
    run: async ({ caller, outcomes, findings }) => {
      const attempt = outcomes.newAttempt({ once: 'debit-hang-up' });
      await caller.send('debit', caller.compose(outcomes.debitOf(attempt)), 'hang-up');
      // The query may be answered NOT_FOUND, because the debit may still be in flight.
      await outcomes.query(attempt);
      const said = await outcomes.settledDebit(attempt);
      // A decline breaks the rule only if the agreement accepts debits at all. So a further debit must succeed;
      // otherwise the rule counts as untried.
      if (said.word === 'DECLINED') await outcomes.debitedOnce();
      findings.judge('debit-hang-up', said.word !== 'DECLINED', `sent again it was answered ${describeSaid(said)}`);
      await outcomes.query(attempt);
    },
  },
  decline('decline-retryable', 'RETRYABLE'),
  decline('decline-final', 'FINAL'),
  decline('decline-agreement-invalid', 'AGREEMENT_INVALID'),
  {
    rules: ['foreign-agreement'],
    run: (check) => expectDecline(check, 'foreign-agreement', 'FINAL', check.given.foreign),
  },
];

function decline(rule: RuleName, kind: WireDecline): Trial {
  return { rules: [rule], run: (check) => expectDecline(check, rule, kind, check.given.declines[kind]) };
}

export async function expectDecline(
  { outcomes, findings }: Check,
  rule: RuleName,
  kind: WireDecline,
  institutionNo: string | undefined,
): Promise<void> {
  if (institutionNo === undefined) return;
  const said = await outcomes.settledDebit(outcomes.newAttempt({ institutionNo }));
  const isDeclined = said.word === 'DECLINED' && said.fields['decline'] === kind;
  findings.judge(rule, isDeclined, `a debit was answered ${describeSaid(said)}`);
}

/** Sends the same number with different content: the bridge must answer 409 and leave the debit unchanged. */
async function conflict({ caller, outcomes }: Check, attempt: Attempt, other: object, rule: RuleName): Promise<void> {
  const what = `a debit again with another ${Object.keys(other).join()}`;
  await outcomes.query(attempt);
  await caller.expectRefusal(outcomes.debitOf(attempt, { ...other }), 409, rule, what);
  attempt.blame = rule;
  await outcomes.query(attempt);
}

export function judgeWord(
  findings: Check['findings'],
  rule: RuleName,
  said: Said,
  wanted: string,
  what: string,
): boolean {
  return findings.judge(rule, said.word === wanted, `${what} was answered ${describeSaid(said)}`);
}
