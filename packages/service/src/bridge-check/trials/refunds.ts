import { debitedCent, type Refund } from '../book.js';
import type { Said } from '../exchange/caller.js';
import { NotTried } from '../findings.js';
import type { RuleName } from '../rules.js';
import { describeSaid } from '../teller.js';
import { judgeWord } from './debits.js';
import type { Check, Trial } from './trial.js';

const isTaken = ({ word }: Said): boolean => word === 'SUCCESS' || word === 'PENDING';

export const REFUND_TRIALS: readonly Trial[] = [
  {
    rules: ['refund-asked', 'refund-amount', 'refund-query-known'],
    run: async ({ teller, findings }) => {
      const attempt = await teller.debitedOnce();
      const refund = await teller.refundedOnce(attempt, debitedCent(attempt));
      const said = await teller.queryRefund(refund);
      findings.judge('refund-query-known', said.word !== 'NOT_FOUND', describeSaid(said));
      // One that is pending has no amount yet, and one that is refused later never has.
      const settled = said.word === 'PENDING' ? await teller.untilRefunded(refund) : said;
      if (settled.word !== 'SUCCESS') throw new NotTried(`a refund was in the end answered ${describeSaid(settled)}`);
    },
  },
  {
    rules: ['refund-repeated'],
    run: async ({ teller, findings }) => {
      const attempt = await teller.debitedOnce();
      const refund = await teller.refundedOnce(attempt, debitedCent(attempt), 'refund-repeated');
      const again = await teller.refund(refund);
      findings.judge('refund-repeated', again.word !== 'NOT_FOUND', describeSaid(again));
    },
  },
  {
    rules: ['refund-other-amount'],
    run: async ({ caller, teller }) => {
      const attempt = await teller.debitedOnce();
      const refund = await teller.refundedOnce(attempt, debitedCent(attempt), 'refund-other-amount');
      await teller.queryRefund(refund);
      const other = teller.refundOf(refund, { amountCent: refund.askedCent + 1 });
      await caller.expectRefusal(other, 409, 'refund-other-amount', 'a refund again with another amountCent');
      refund.blame = 'refund-other-amount';
      await teller.queryRefund(refund);
    },
  },
  {
    rules: ['refund-too-much'],
    run: async (check) => {
      const attempt = await check.teller.debitedOnce();
      await expectRefused(check, 'refund-too-much', 'one cent more than was debited', () =>
        check.teller.newRefund(attempt, debitedCent(attempt) + 1),
      );
    },
  },
  {
    rules: ['refund-in-sum'],
    run: async (check) => {
      const attempt = await check.teller.debitedOnce();
      await check.teller.refundedOnce(attempt, debitedCent(attempt));
      await expectRefused(check, 'refund-in-sum', 'a second refund of everything', () =>
        check.teller.newRefund(attempt, debitedCent(attempt)),
      );
    },
  },
  {
    rules: ['refund-at-once'],
    run: async ({ teller, findings }) => {
      const attempt = await teller.debitedOnce();
      const both = [1, 2].map(() => teller.newRefund(attempt, debitedCent(attempt)));
      const first = await Promise.all(both.map((refund) => teller.refund(refund)));
      // Of two that are pending one may be refused later.
      const said = first.every(isTaken) ? await Promise.all(both.map((one) => teller.settled(one))) : first;
      if (!said.some(isTaken)) throw new NotTried(`both refunds were answered ${said.map(describeSaid).join(', ')}`);
      findings.judge('refund-at-once', said.filter(isTaken).length === 1, 'both refunds of everything were taken');
    },
  },
  {
    rules: ['refund-unknown-debit'],
    run: async ({ teller, book, findings, given }) => {
      const attemptNo = book.nextNumber('D');
      const about = { askedCent: given.amountCent, orderNo: attemptNo, startedAt: given.clock.now() };
      const attempt = { attemptNo, institutionNo: '', ...about };
      // Not of the book: there is nothing to give back.
      const refund: Refund = { refundNo: book.nextNumber('R'), attempt, askedCent: given.amountCent };
      const said = await teller.settledRefund(refund, { ...teller.refundOf(refund), blame: 'refund-unknown-debit' });
      judgeWord(findings, 'refund-unknown-debit', said, 'REFUSED', 'a refund of a number that was never debited');
    },
  },
  {
    rules: ['refund-query-unknown'],
    run: async ({ caller, book, findings, given }) => {
      const body = { appId: given.appId, refundNo: book.nextNumber('R') };
      const said = await caller.ask({ operation: 'refund-query', body, blame: 'refund-query-unknown' });
      judgeWord(findings, 'refund-query-unknown', said, 'NOT_FOUND', 'a number that was never sent');
    },
  },
];

async function expectRefused({ teller, findings }: Check, rule: RuleName, what: string, make: () => Refund) {
  judgeWord(findings, rule, await teller.settledRefund(make()), 'REFUSED', what);
}
