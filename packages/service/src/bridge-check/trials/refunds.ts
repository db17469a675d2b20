import { debitedCent, type Refund } from '../book.js';
import type { Said } from '../exchange/caller.js';
import { NotTried } from '../findings.js';
import { describeSaid } from '../outcome-log.js';
import { judgeWord } from './debits.js';
import type { Trial } from './trial.js';

const isTaken = ({ word }: Said): boolean => word === 'SUCCESS' || word === 'PENDING';

export const REFUND_TRIALS: readonly Trial[] = [
  {
    rules: ['refund-asked', 'refund-amount', 'refund-query-known'],
    run: async ({ outcomes, findings }) => {
      const attempt = await outcomes.debitedOnce();
      const refund = await outcomes.refundedOnce(attempt, debitedCent(attempt));
      const said = await outcomes.query(refund);
      findings.judge('refund-query-known', said.word !== 'NOT_FOUND', describeSaid(said));
      // Waits for the final result: a pending refund has no amount yet, and a refused refund never has an amount.
      const settled = await outcomes.settled(refund);
      if (settled.word !== 'SUCCESS') throw new NotTried(`a refund was finally answered ${describeSaid(settled)}`);
    },
  },
  {
    rules: ['refund-repeated'],
    run: async ({ outcomes, findings }) => {
      const attempt = await outcomes.debitedOnce();
      const refund = await outcomes.refundedOnce(attempt, debitedCent(attempt), 'refund-repeated');
      const again = await outcomes.refund(refund);
      findings.judge('refund-repeated', again.word !== 'NOT_FOUND', describeSaid(again));
    },
  },
  {
    rules: ['refund-other-amount'],
    run: async ({ caller, outcomes }) => {
      const attempt = await outcomes.debitedOnce();
      const refund = await outcomes.refundedOnce(attempt, debitedCent(attempt), 'refund-other-amount');
      await outcomes.query(refund);
      const other = outcomes.refundOf(refund, { amountCent: refund.askedCent + 1 });
      await caller.expectRefusal(other, 409, 'refund-other-amount', 'a refund again with another amountCent');
      refund.blame = 'refund-other-amount';
      await outcomes.query(refund);
    },
  },
  {
    rules: ['refund-too-much'],
    run: async ({ outcomes, findings }) => {
      const attempt = await outcomes.debitedOnce();
      const said = await outcomes.settledRefund(outcomes.newRefund(attempt, debitedCent(attempt) + 1));
      judgeWord(findings, 'refund-too-much', said, 'REFUSED', 'one cent more than was debited');
    },
  },
  {
    rules: ['refund-in-sum'],
    run: async ({ outcomes, findings }) => {
      const attempt = await outcomes.debitedOnce();
      await outcomes.refundedOnce(attempt, debitedCent(attempt));
      const said = await outcomes.settledRefund(outcomes.newRefund(attempt, debitedCent(attempt)));
      judgeWord(findings, 'refund-in-sum', said, 'REFUSED', 'a second full refund');
    },
  },
  {
    rules: ['refund-at-once'],
    run: async ({ outcomes, findings }) => {
      const attempt = await outcomes.debitedOnce();
      const both = [1, 2].map(() => outcomes.newRefund(attempt, debitedCent(attempt)));
      const first = await Promise.all(both.map((refund) => outcomes.refund(refund)));
      // Waits for both results, because one of two pending refunds may be refused later.
      const said = first.every(isTaken) ? await Promise.all(both.map((one) => outcomes.settled(one))) : first;
      if (!said.some(isTaken)) throw new NotTried(`both refunds were answered ${said.map(describeSaid).join(', ')}`);
      findings.judge('refund-at-once', said.filter(isTaken).length === 1, 'both full refunds were accepted');
    },
  },
  {
    rules: ['refund-unknown-debit'],
    run: async ({ outcomes, book, findings, given }) => {
      // Not added to the book, because its debit was never sent, so there is nothing to refund.
      const refund: Refund = {
        refundNo: book.nextNumber('R'),
        attempt: outcomes.unsent(),
        askedCent: given.amountCent,
      };
      const said = await outcomes.settledRefund(refund, {
        ...outcomes.refundOf(refund),
        blame: 'refund-unknown-debit',
      });
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
