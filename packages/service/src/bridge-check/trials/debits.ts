import type { WireDecline } from '@perennial/wire/bridge';
import type { Attempt } from '../book.js';
import type { Said } from '../exchange/caller.js';
import type { RuleName } from '../rules.js';
import { describeSaid, unlessUnusable } from '../teller.js';
import type { Check, Trial } from './trial.js';

const AT_ONCE = 5;

export const DEBIT_TRIALS: readonly Trial[] = [
  {
    rules: ['debit-query-unknown'],
    run: async ({ caller, teller, findings, given }) => {
      const unsent = teller.unsent();
      const said = await caller.ask({ ...teller.queryOf(unsent), blame: 'debit-query-unknown' });
      judgeWord(findings, 'debit-query-unknown', said, 'NOT_FOUND', 'a number that was never sent');
      if (given.agreement === undefined) return;
      const attempt = teller.newAttempt({ attemptNo: unsent.attemptNo });
      await teller.debit(attempt, { ...teller.debitOf(attempt), blame: 'debit-query-unknown' });
    },
  },
  {
    rules: ['debit-asked', 'debit-amount', 'debit-query-known', 'result-stays'],
    run: async ({ teller }) => {
      await teller.query(await teller.debitedOnce());
    },
  },
  {
    rules: ['debit-repeated'],
    run: async ({ teller, findings }) => {
      const attempt = await teller.debitedOnce({ once: 'debit-repeated' });
      for (let times = 0; times < 2; times += 1) {
        const { word } = await teller.debit(attempt);
        findings.judge('debit-repeated', word === 'SUCCESS', `the repetition was answered ${word}`);
      }
    },
  },
  {
    rules: ['debit-at-once'],
    run: async ({ teller, findings }) => {
      const attempt = teller.newAttempt({ once: 'debit-at-once' });
      await Promise.all(Array.from({ length: AT_ONCE }, () => unlessUnusable(teller.debit(attempt))));
      await teller.requireDebited(attempt);
      await teller.query(attempt);
      findings.judge('debit-at-once', true, '');
    },
  },
  {
    rules: ['debit-other-amount'],
    run: async (check) => {
      const attempt = await check.teller.debitedOnce({ once: 'debit-other-amount' });
      await conflict(check, attempt, { amountCent: attempt.askedCent + 1 }, 'debit-other-amount');
    },
  },
  {
    rules: ['debit-other-agreement'],
    run: async (check) => {
      const attempt = await check.teller.debitedOnce({ once: 'debit-other-agreement' });
      await conflict(check, attempt, { institutionNo: `${attempt.institutionNo}-other` }, 'debit-other-agreement');
    },
  },
  {
    rules: ['debit-hang-up'],
    run: async ({ caller, teller, findings }) => {
      const attempt = teller.newAttempt({ once: 'debit-hang-up' });
      await caller.send('debit', caller.compose(teller.debitOf(attempt)), 'hang-up');
      // NOT_FOUND is good too: it may still be on its way.
      await teller.query(attempt);
      const said = await teller.settledDebit(attempt);
      // An agreement that declines all debits says nothing about this one.
      if (said.word === 'DECLINED') await teller.debitedOnce();
      findings.judge('debit-hang-up', said.word !== 'DECLINED', `sent again it was answered ${describeSaid(said)}`);
      await teller.query(attempt);
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
  { teller, findings }: Check,
  rule: RuleName,
  kind: WireDecline,
  institutionNo: string | undefined,
): Promise<void> {
  if (institutionNo === undefined) return;
  const said = await teller.settledDebit(teller.newAttempt({ institutionNo }));
  const isDeclined = said.word === 'DECLINED' && said.fields['decline'] === kind;
  findings.judge(rule, isDeclined, `a debit was answered ${describeSaid(said)}`);
}

/** The same number for something else: a 409, and the debit is as it was. */
async function conflict({ caller, teller }: Check, attempt: Attempt, other: object, rule: RuleName): Promise<void> {
  const what = `a debit again with another ${Object.keys(other).join()}`;
  await teller.query(attempt);
  await caller.expectRefusal(teller.debitOf(attempt, { ...other }), 409, rule, what);
  attempt.blame = rule;
  await teller.query(attempt);
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
