import { FAULTS, type FaultName } from '@perennial/reference-peers';
import { describe, expect, it } from 'vitest';
import type { DebitOutcome } from '../../src/gateways/gateway.js';
import { attached, BEHALF, CARD, control, debitOf, ledgerOf, noticeEndpoint } from './support.js';

type Kind = DebitOutcome['kind'] | 'not-found';

/** For each fault: the response to the debit, the response to the query, and the amount really debited. */
const EXPECTED: Record<FaultName, { debit: object; query: object; debitedCent: number | undefined }> = {
  'decline-retryable': declined('retryable'),
  'decline-final': declined('final'),
  'agreement-invalid': declined('agreement-invalid'),
  'pending-success': told('pending', 'success', 1990),
  'pending-decline': told('pending', 'declined', 0, { decline: 'final' }),
  'pending-retryable': told('pending', 'declined', 0, { decline: 'retryable' }),
  'answer-lost': told('unknown', 'success', 1990),
  'error-before': told('unknown', 'not-found', undefined),
  'error-after': told('unknown', 'success', 1990),
  delay: told('unknown', 'success', 1990),
  'duplicate-notice': told('pending', 'success', 1990),
  'late-notice': told('pending', 'success', 1990),
  'forged-notice': told('pending', 'success', 1990),
  'wrong-amount': {
    debit: { kind: 'success', amountCent: 1991 },
    query: { kind: 'success', amountCent: 1990 },
    debitedCent: 1990,
  },
  'wrong-debit': {
    debit: { kind: 'success', amountCent: 1991 },
    query: { kind: 'success', amountCent: 1991 },
    debitedCent: 1991,
  },
  'forged-answer': told('unknown', 'success', 1990),
  'garbage-answer': told('unknown', 'success', 1990),
  'oversized-answer': told('unknown', 'success', 1990),
  'refund-refused': told('success', 'success', 1990),
  'refund-pending': told('success', 'success', 1990),
  'agreement-ended': told('success', 'success', 1990),
  'cancel-refused': told('success', 'success', 1990),
  'refund-pending-refused': told('success', 'success', 1990),
  'refund-wrong-amount': told('success', 'success', 1990),
  'foreign-channel': told('success', 'success', 1990),
};

function declined(decline: string) {
  const outcome = { kind: 'declined', decline };
  return { debit: outcome, query: outcome, debitedCent: 0 };
}

function told(debit: Kind, query: Kind, debitedCent: number | undefined, more: object = {}) {
  return { debit: { kind: debit }, query: { kind: query, ...more }, debitedCent };
}

describe('a debit on a card whose tail is', () => {
  it.each(FAULTS)('$tail ($name) is answered as documented, and the ledger has the truth', async ({ tail, name }) => {
    const endpoint = await noticeEndpoint();
    const { institution, gateway } = await attached(
      // Long delays, so that no debit settles during the test and the first answer is PENDING.
      { noticeUrl: endpoint.url, delays: { settleMs: 3_600_000, answerMs: 3_600_000 } },
      { deadlineMs: { debit: name === 'delay' ? 1_500 : 8_000 } },
    );
    const expected = EXPECTED[name];
    const debit = debitOf('7001', tail);

    expect(await gateway.debit(debit)).toMatchObject(expected.debit);
    await control(institution, { action: 'settle', attemptNo: '7001' });
    expect(await gateway.queryDebit(debit)).toMatchObject(expected.query);

    const { debits, arrivals } = await ledgerOf(institution);
    expect(debits.map(({ debitedCent }) => debitedCent)).toEqual(
      expected.debitedCent === undefined ? [] : [expected.debitedCent],
    );
    expect(arrivals).toEqual({ 7001: 1 });
  });

  it('0025, for a second channel: declined, and the ledger names each channel', async () => {
    const { institution, gateway } = await attached();
    const final = { kind: 'declined', decline: 'final', reason: 'the agreement belongs to another channel' };
    expect(await gateway.debit(debitOf('1', '0025'))).toMatchObject({ kind: 'success' });
    expect(await gateway.debit(debitOf('2', '0025', { appId: 'test_other' }))).toMatchObject(final);
    expect((await ledgerOf(institution)).debits.map(({ appId, debitedCent }) => [appId, debitedCent])).toEqual([
      ['test_demo', 1990],
      ['test_other', 0],
    ]);
  });

  it('comes from the bound card, not from the agreement number', async () => {
    const { gateway } = await attached();
    const card = { ...CARD, bankCardNo: '6222020000000002' };
    await gateway.sendBindCode({ ...BEHALF, bindOrderNo: '55', bankCode: undefined, card });
    const bound = await gateway.confirmBind({ ...BEHALF, bindOrderNo: '55', reference: undefined, smsCode: '123456' });
    if (bound.kind !== 'bound') throw new Error(bound.kind);
    const debit = debitOf('7001', '', { institutionNo: bound.institutionNo });
    expect(await gateway.debit(debit)).toMatchObject({ kind: 'declined', decline: 'final' });
  });
});

describe('a fault set by a control call', () => {
  it('applies to a number of requests, to one number, to a tail, or to any operation', async () => {
    const { institution, gateway } = await attached();
    const set = (fault: object) => control(institution, { action: 'set', ...fault });
    const kinds = async (numbers: readonly string[], tail?: string) => {
      const outcomes = [];
      for (const number of numbers) outcomes.push((await gateway.debit(debitOf(number, tail))).kind);
      return outcomes;
    };
    await set({ fault: 'error-before', times: 2 });
    expect(await kinds(['1', '2', '3'])).toEqual(['unknown', 'unknown', 'success']);
    await set({ fault: 'decline-final', number: '5' });
    expect(await kinds(['4', '5', '6'])).toEqual(['success', 'declined', 'success']);
    await set({ fault: 'none', tail: '0002' });
    await set({ fault: 'decline-retryable', tail: '4444' });
    expect([...(await kinds(['7'], '0002')), ...(await kinds(['8'], '4444'))]).toEqual(['success', 'declined']);
    await control(institution, { action: 'clear' });
    expect([...(await kinds(['9'], '0002')), ...(await kinds(['10'], '4444'))]).toEqual(['declined', 'success']);

    await set({ fault: 'answer-lost', operation: 'debit-query', times: 1 });
    expect(await gateway.queryDebit(debitOf('4'))).toEqual({ kind: 'unknown' });
    expect(await gateway.queryDebit(debitOf('4'))).toMatchObject({ kind: 'success' });
    await set({ fault: 'error-after', operation: 'refund', times: 1 });
    const refund = { ...BEHALF, refundNo: 'r1', attemptNo: '4', amountCent: 100 };
    expect(await gateway.refund(refund)).toEqual({ kind: 'unknown' });
    expect(await gateway.queryRefund(refund)).toMatchObject({ kind: 'success', amountCent: 100 });
  });
});
