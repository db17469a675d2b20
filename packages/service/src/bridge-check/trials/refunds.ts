import { debitedCent, type Refund } from '../book.js';
import type { Said } from '../exchange/caller.js';
import { NotTried } from '../findings.js';
import { describeSaid } from '../teller.js';
import { judgeWord } from './debits.js';
import type { Trial } from './trial.js';

const isTaken = ({ word }: Said): boolean => word === 'SUCCESS' || word === 'PENDING';

export const REFUND_TRIALS: readonly Trial[] = [
  {
    rules: ['refund-asked', 'refund-amount', 'refund-query-known'],
    run: async ({ teller, findings }) => {
      const attempt = await teller.debitedOnce();
      const refund = await teller.refundedOnce(attempt, debitedCent(attempt));
      const said = await teller.query(refund);
      findings.judge('refund-query-known', said.word !== 'NOT_FOUND', describeSaid(said));
      // One that is pending has no amount yet, and one that is refused later never has.
      const settled = await teller.settled(refund);
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
      await teller.query(refund);
      const other = teller.refundOf(refund, { amountCent: refund.askedCent + 1 });
      await caller.expectRefusal(other, 409, 'refund-other-amount', 'a refund again with another amountCent');
      refund.blame = 'refund-other-amount';
      await teller.query(refund);
    },
  },
  {
    rules: ['refund-too-much'],
    run: async ({ teller, findings }) => {
      const attempt = await teller.debitedOnce();
      const said = await teller.settledRefund(teller.newRefund(attempt, debitedCent(attempt) + 1));
      judgeWord(findings, 'refund-too-much', said, 'REFUSED', 'one cent more than was debited');
    },
  },
  {
    rules: ['refund-in-sum'],
    run: async ({ teller, findings }) => {
      const attempt = await teller.debitedOnce();
      await teller.refundedOnce(attempt, debitedCent(attempt));
      const said = await teller.settledRefund(teller.newRefund(attempt, debitedCent(attempt)));
      judgeWord(findings, 'refund-in-sum', said, 'REFUSED', 'a second refund of everything');
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
      // Not of the book: there is nothing to give back.
      const refund: Refund = {
        refundNo: book.nextNumber('R'),
        attempt: teller.unsent(),
        askedCent: given.amountCent,
      };
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
