import { describe, expect, it } from 'vitest';
import { book, type Diary, secondPeriod, useBook } from './diary.js';

useBook();

describe('an agreement replaced between two attempts', () => {
  it('retryFailedNow: retried on the new one at once, whatever the schedule', async () => {
    const diary = await secondPeriod('short');
    book.card = 'pays';
    await diary.on('2027-02-15 18:00', async () => {
      const { data } = await diary.replace();
      expect(data.retriedNow).toEqual([
        { paymentOrderNo: `${diary.orderNo}0002`, cycleNo: 2, newStatus: 'PROCESSING' },
      ]);
      expect(data.affectedPayments[0]).toMatchObject({ cycleNo: 2, previousStatus: 'FAIL_RETRY' });
    });
    await diary.on('2027-02-15 18:01', () => book.askDue());
    await diary.goOn();
    expect(diary.entries).toEqual([
      ['2027-01-15 10:00', 'period 1 SUCCESS, order ACTIVE', 'ACTIVE, next 2027-02-15 10:00'],
      ['2027-02-15 10:00', 'period 2 FAIL_RETRY', 'ACTIVE, next 2027-02-16 10:00'],
      ['2027-02-15 18:00', 'nothing', 'ACTIVE, next 2027-03-15 10:00'],
      ['2027-02-15 18:01', 'period 2 SUCCESS', 'ACTIVE, next 2027-03-15 10:00'],
      ['2027-03-15 10:00', 'period 3 SUCCESS', 'ACTIVE, next 2027-04-15 10:00'],
    ]);
    const [first, second] = diary.triedOn(2);
    expect([first, first === second]).toEqual([diary.sharedAgreementNo, false]);
    expect(diary.triedOn(3)).toEqual([second]);
  });

  it('not retryFailedNow: retried on the new one by the schedule', async () => {
    const diary = await secondPeriod('short');
    book.card = 'pays';
    await diary.on('2027-02-15 18:00', async () => expect((await diary.replace(false)).data.retriedNow).toEqual([]));
    await diary.goOn();
    expect(diary.entries.slice(1)).toEqual([
      ['2027-02-15 10:00', 'period 2 FAIL_RETRY', 'ACTIVE, next 2027-02-16 10:00'],
      ['2027-02-15 18:00', 'nothing', 'ACTIVE, next 2027-02-16 10:00'],
      ['2027-02-16 10:00', 'period 2 SUCCESS', 'ACTIVE, next 2027-03-15 10:00'],
    ]);
    expect(new Set(diary.triedOn(2)).size).toBe(2);
  });

  const CARDS = ['short', 'blocked', 'gone'] as const;
  it.each([
    ...CARDS.map((card) => [card, undefined, 'right after', '2027-02-15 12:00'] as const),
    ...CARDS.map((card) => [card, false, 'by the schedule', '2027-02-16 12:00'] as const),
  ])(
    'while a debit is in flight, and the old card is %s, retryFailedNow %s: retried on the new one %s',
    async (card, retryFailedNow, _when, next) => {
      const diary = await secondPeriod('silent');
      await diary.on('2027-02-15 11:00', async () =>
        expect((await diary.replace(retryFailedNow)).data.retriedNow).toEqual([]),
      );
      await diary.on('2027-02-15 12:00', () => diary.result(2, 1, card));
      book.card = 'pays';
      await diary.goOn();
      expect(diary.entries.slice(1)).toEqual([
        ['2027-02-15 10:00', 'nothing', 'ACTIVE, next 2027-03-15 10:00'],
        ['2027-02-15 11:00', 'nothing', 'ACTIVE, next 2027-03-15 10:00'],
        ['2027-02-15 12:00', 'period 2 FAIL_RETRY', `ACTIVE, next ${next}`],
        [next, 'period 2 SUCCESS', 'ACTIVE, next 2027-03-15 10:00'],
      ]);
      const [first, second] = diary.triedOn(2);
      expect([first, first === second]).toEqual([diary.sharedAgreementNo, false]);
      expect(await diary.agreementStatus()).toBe('BIND_SUCCESS');
    },
  );

  it('while a debit is in flight, and the old card is gone once the next period is due: FAIL, and the order continues', async () => {
    const diary = await secondPeriod('silent');
    await diary.on('2027-02-15 11:00', () => diary.replace());
    await diary.on('2027-03-15 11:00', () => diary.result(2, 1, 'gone'));
    book.card = 'pays';
    await diary.goOn();
    expect(diary.entries.slice(3)).toEqual([
      ['2027-03-15 11:00', 'period 2 FAIL', 'ACTIVE, next 2027-03-15 10:00'],
      ['2027-03-15 10:00', 'period 3 SUCCESS', 'ACTIVE, next 2027-04-15 10:00'],
    ]);
    expect(await diary.agreementStatus()).toBe('BIND_SUCCESS');
  });

  it('not retryFailedNow while the last retry is in flight: FAIL, and the next period on the new one', async () => {
    const productCode = await book.product({ retryDelays: [86_400] });
    const diary = await book.open('2027-01-15 10:00', productCode);
    book.card = 'short';
    await diary.goOn();
    book.card = 'silent';
    await diary.goOn();
    await diary.on('2027-02-16 11:00', () => diary.replace(false));
    await diary.on('2027-02-16 12:00', () => diary.result(2, 2, 'short'));
    book.card = 'pays';
    await diary.goOn();
    expect(diary.entries.slice(1)).toEqual([
      ['2027-02-15 10:00', 'period 2 FAIL_RETRY', 'ACTIVE, next 2027-02-16 10:00'],
      ['2027-02-16 10:00', 'nothing', 'ACTIVE, next 2027-03-15 10:00'],
      ['2027-02-16 11:00', 'nothing', 'ACTIVE, next 2027-03-15 10:00'],
      ['2027-02-16 12:00', 'period 2 FAIL', 'ACTIVE, next 2027-03-15 10:00'],
      ['2027-03-15 10:00', 'period 3 SUCCESS', 'ACTIVE, next 2027-04-15 10:00'],
    ]);
    expect(diary.triedOn(3)).not.toEqual([diary.sharedAgreementNo]);
  });

  it.each([
    [true, false, '2027-02-16 12:00'],
    [false, true, '2027-02-15 12:00'],
    [false, undefined, '2027-02-15 12:00'],
  ])(
    'replaced twice while a debit is in flight, retryFailedNow %s and then %s: the last one counts',
    async (first, second, next) => {
      const diary = await secondPeriod('silent');
      await diary.on('2027-02-15 10:30', () => diary.replace(first));
      await diary.on('2027-02-15 11:00', () => diary.replace(second));
      await diary.on('2027-02-15 12:00', () => diary.result(2, 1, 'short'));
      expect(diary.entries.at(-1)).toEqual(['2027-02-15 12:00', 'period 2 FAIL_RETRY', `ACTIVE, next ${next}`]);
    },
  );

  it('while a debit is in flight, and the old card pays: no retry is left', async () => {
    const diary = await secondPeriod('silent');
    await diary.on('2027-02-15 11:00', () => diary.replace());
    await diary.on('2027-02-15 12:00', () => diary.result(2, 1, 'pays'));
    book.card = 'pays';
    await diary.goOn();
    expect(diary.entries.slice(3)).toEqual([
      ['2027-02-15 12:00', 'period 2 SUCCESS', 'ACTIVE, next 2027-03-15 10:00'],
      ['2027-03-15 10:00', 'period 3 SUCCESS', 'ACTIVE, next 2027-04-15 10:00'],
    ]);
    expect(diary.triedOn(2)).toEqual([diary.sharedAgreementNo]);
    expect(diary.triedOn(3)).not.toEqual([diary.sharedAgreementNo]);
  });
});

describe('an agreement that the bank has ended', () => {
  const ended = (diary: Diary) =>
    book.notice({ kind: 'agreement-canceled', institutionNo: diary.sharedAgreementNo, reason: 'closed' }, 'BANKPAY');

  it('by a notice: the order is unsubscribed, and the bank is not asked to cancel', async () => {
    const diary = await secondPeriod('pays');
    await diary.on('2027-02-20 09:00', () => ended(diary));
    await diary.on('2027-02-20 09:01', () => ended(diary));
    expect(diary.entries.slice(1)).toEqual([
      ['2027-02-15 10:00', 'period 2 SUCCESS', 'ACTIVE, next 2027-03-15 10:00'],
      ['2027-02-20 09:00', 'order UNSUBSCRIBED, period 3-12 CANCELED', 'UNSUBSCRIBED'],
      ['2027-02-20 09:01', 'nothing', 'UNSUBSCRIBED'],
    ]);
    expect(await diary.agreementStatus()).toBe('CANCELED');
    expect((await diary.call('orders/query')).data.unsubscribeTime).toBe('2027-02-20 09:00:00');
    await book.cancelAgreements();
    expect(book.institution.cancellations.map((one) => one.institutionNo)).not.toContain(diary.sharedAgreementNo);
  });

  it('by a notice between two attempts: the open period is voided too', async () => {
    const diary = await secondPeriod('short');
    await diary.on('2027-02-15 20:00', () => ended(diary));
    expect(diary.entries.slice(2)).toEqual([
      ['2027-02-15 20:00', 'order UNSUBSCRIBED, period 2 CANCELED, period 3-12 CANCELED', 'UNSUBSCRIBED'],
    ]);
  });

  it('by a decline: FAIL, and the order is unsubscribed with it', async () => {
    const diary = await secondPeriod('gone');
    expect(diary.entries.slice(1)).toEqual([
      ['2027-02-15 10:00', 'period 2 FAIL, order UNSUBSCRIBED, period 3-12 CANCELED', 'UNSUBSCRIBED'],
    ]);
    expect(await diary.agreementStatus()).toBe('CANCELED');
    expect((await diary.periods()).slice(1, 3)).toEqual([
      '2 due 2027-02-15 10:00: FAIL',
      '3 due 2027-03-15 10:00: CANCELED',
    ]);
  });

  it('by a decline of the last period: FAIL and COMPLETED', async () => {
    const diary = await book.open('2027-01-15 10:00', await book.product({ totalCycles: 2 }));
    book.card = 'gone';
    await diary.goOn();
    expect(diary.entries.slice(1)).toEqual([['2027-02-15 10:00', 'period 2 FAIL, order COMPLETED', 'COMPLETED']]);
    expect(await diary.agreementStatus()).toBe('CANCELED');
  });
});
