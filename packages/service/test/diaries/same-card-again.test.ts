import { describe, expect, it } from 'vitest';
import { book, type Diary, secondPeriod, useBook } from './diary.js';

useBook();

const canceledThere = () => book.institution.cancellations.map(({ institutionNo }) => institutionNo);

describe('a card that its user binds again', () => {
  it('between two periods: the next one is debited on the new agreement', async () => {
    const diary = await book.openBound('2027-01-15 10:00', 'TEST_SPU_001');
    let newNo = '';
    await diary.on('2027-01-20 09:00', async () => {
      newNo = await diary.bindAgain();
    });
    await diary.goOn();
    expect(diary.entries).toEqual([
      ['2027-01-15 10:00', 'period 1 SUCCESS, order ACTIVE', 'ACTIVE, next 2027-02-15 10:00'],
      ['2027-01-20 09:00', 'nothing', 'ACTIVE, next 2027-02-15 10:00'],
      ['2027-02-15 10:00', 'period 2 SUCCESS', 'ACTIVE, next 2027-03-15 10:00'],
    ]);
    expect([diary.triedOn(1), diary.triedOn(2)]).toEqual([[diary.sharedAgreementNo], [newNo]]);
  });

  it('between two attempts: the schedule stays, and the retry uses the new agreement', async () => {
    const diary = await secondPeriod('short', 'openBound');
    book.card = 'pays';
    let newNo = '';
    await diary.on('2027-02-15 18:00', async () => {
      newNo = await diary.bindAgain();
    });
    await diary.goOn();
    expect(diary.entries.slice(1)).toEqual([
      ['2027-02-15 10:00', 'period 2 FAIL_RETRY', 'ACTIVE, next 2027-02-16 10:00'],
      ['2027-02-15 18:00', 'nothing', 'ACTIVE, next 2027-02-16 10:00'],
      ['2027-02-16 10:00', 'period 2 SUCCESS', 'ACTIVE, next 2027-03-15 10:00'],
    ]);
    expect(diary.triedOn(2)).toEqual([diary.sharedAgreementNo, newNo]);
  });

  it.each(['short', 'blocked', 'gone'] as const)(
    'while a debit is in flight, and the old agreement is %s: retried on the new one at once, and only then canceled',
    async (card) => {
      const diary = await secondPeriod('silent', 'openBound');
      let newNo = '';
      await diary.on('2027-02-15 11:00', async () => {
        newNo = await diary.bindAgain();
      });
      await book.cancelAgreements();
      expect(canceledThere()).not.toContain(diary.sharedAgreementNo);
      await diary.on('2027-02-15 12:00', () => diary.result(2, 1, card));
      book.card = 'pays';
      await diary.goOn();
      expect(diary.entries.slice(1)).toEqual([
        ['2027-02-15 10:00', 'nothing', 'ACTIVE, next 2027-03-15 10:00'],
        ['2027-02-15 11:00', 'nothing', 'ACTIVE, next 2027-03-15 10:00'],
        ['2027-02-15 12:00', 'period 2 FAIL_RETRY', 'ACTIVE, next 2027-02-15 12:00'],
        ['2027-02-15 12:00', 'period 2 SUCCESS', 'ACTIVE, next 2027-03-15 10:00'],
      ]);
      expect(diary.triedOn(2)).toEqual([diary.sharedAgreementNo, newNo]);
      expect(await diary.agreementStatus()).toBe('BIND_SUCCESS');
      await book.cancelAgreements();
      expect(canceledThere()).toContain(diary.sharedAgreementNo);
      expect(canceledThere()).not.toContain(newNo);
    },
  );

  it('while a debit is in flight, and the old agreement pays: no retry is left', async () => {
    const diary = await secondPeriod('silent', 'openBound');
    await diary.on('2027-02-15 11:00', () => diary.bindAgain());
    await diary.on('2027-02-15 12:00', () => diary.result(2, 1, 'pays'));
    book.card = 'pays';
    await diary.goOn();
    expect(diary.entries.slice(3)).toEqual([
      ['2027-02-15 12:00', 'period 2 SUCCESS', 'ACTIVE, next 2027-03-15 10:00'],
      ['2027-03-15 10:00', 'period 3 SUCCESS', 'ACTIVE, next 2027-04-15 10:00'],
    ]);
    expect(diary.triedOn(2)).toEqual([diary.sharedAgreementNo]);
  });

  it('while the first debit is in flight, and the old agreement does not pay: the order is TERMINATED', async () => {
    book.card = 'silent';
    const diary = await book.openBound('2027-01-15 10:00', 'TEST_SPU_001');
    await diary.on('2027-01-15 10:01', () => diary.bindAgain());
    await diary.on('2027-01-15 10:02', () => diary.result(1, 1, 'gone'));
    expect(diary.entries.slice(1)).toEqual([
      ['2027-01-15 10:01', 'nothing', 'INITIALIZING'],
      ['2027-01-15 10:02', 'period 1 FAIL, order TERMINATED', 'TERMINATED'],
    ]);
    expect(await diary.agreementStatus()).toBe('BIND_SUCCESS');
  });

  it('while the first debit is in flight, and the new agreement ends before it succeeds: the order ends too', async () => {
    book.card = 'silent';
    const diary = await book.openBound('2027-01-15 10:00', 'TEST_SPU_001');
    let institutionNo = '';
    await diary.on('2027-01-15 10:01', async () => {
      institutionNo = await diary.bindAgain();
    });
    await diary.on('2027-01-15 10:02', () =>
      book.notice({ kind: 'agreement-canceled', institutionNo, reason: 'closed' }, 'BANKPAY'),
    );
    await diary.on('2027-01-15 10:03', () => diary.result(1, 1, 'pays'));
    expect(diary.entries.slice(1)).toEqual([
      ['2027-01-15 10:01', 'nothing', 'INITIALIZING'],
      ['2027-01-15 10:02', 'nothing', 'INITIALIZING'],
      ['2027-01-15 10:03', 'period 1 SUCCESS, order ACTIVE, order UNSUBSCRIBED, period 2-12 CANCELED', 'UNSUBSCRIBED'],
    ]);
  });

  it('and the bank reports the end of the old agreement: the order continues', async () => {
    const diary = await book.openBound('2027-01-15 10:00', 'TEST_SPU_001');
    await diary.on('2027-01-20 09:00', () => diary.bindAgain());
    await diary.on('2027-01-20 09:01', () =>
      book.notice({ kind: 'agreement-canceled', institutionNo: diary.sharedAgreementNo, reason: 'so' }, 'BANKPAY'),
    );
    await diary.goOn();
    expect(diary.entries.slice(1)).toEqual([
      ['2027-01-20 09:00', 'nothing', 'ACTIVE, next 2027-02-15 10:00'],
      ['2027-01-20 09:01', 'nothing', 'ACTIVE, next 2027-02-15 10:00'],
      ['2027-02-15 10:00', 'period 2 SUCCESS', 'ACTIVE, next 2027-03-15 10:00'],
    ]);
  });
});

describe('a card that its user binds again, and the bank gives the same number', () => {
  /** Binds the card again and makes the institution give the new binding the same agreement number. */
  const sameNumber = async (diary: Diary) => {
    const { confirmBind } = book.institution;
    book.institution.confirmBind = async () => ({ kind: 'bound', institutionNo: diary.sharedAgreementNo });
    await diary.bindAgain();
    book.institution.confirmBind = confirmBind;
  };

  it('the number is not canceled until the order is unsubscribed', async () => {
    const diary = await book.openBound('2027-01-15 10:00', 'TEST_SPU_001');
    await diary.on('2027-01-20 09:00', () => sameNumber(diary));
    await book.cancelAgreements();
    await diary.goOn();
    expect(diary.triedOn(2)).toEqual([diary.sharedAgreementNo]);
    expect(canceledThere()).not.toContain(diary.sharedAgreementNo);
    await diary.call('orders/unsubscribe');
    await book.cancelAgreements();
    expect(canceledThere()).toContain(diary.sharedAgreementNo);
  });

  it('a number due for cancellation is assigned again: it is not canceled', async () => {
    const diary = await book.openBound('2027-01-15 10:00', 'TEST_SPU_001');
    await diary.on('2027-01-20 09:00', () => diary.bindAgain());
    await diary.on('2027-01-20 09:01', () => sameNumber(diary));
    await book.cancelAgreements();
    expect(canceledThere()).not.toContain(diary.sharedAgreementNo);
  });

  it('while a debit is in flight that the card cannot pay: the schedule applies, because the number is the same', async () => {
    const diary = await secondPeriod('silent', 'openBound');
    await diary.on('2027-02-15 11:00', () => sameNumber(diary));
    await diary.on('2027-02-15 12:00', () => diary.result(2, 1, 'short'));
    expect(diary.entries.slice(3)).toEqual([
      ['2027-02-15 12:00', 'period 2 FAIL_RETRY', 'ACTIVE, next 2027-02-16 12:00'],
    ]);
  });

  it('and the bank reports its end: the order ends with it', async () => {
    const diary = await book.openBound('2027-01-15 10:00', 'TEST_SPU_001');
    await diary.on('2027-01-20 09:00', () => sameNumber(diary));
    await diary.on('2027-01-20 09:01', () =>
      book.notice({ kind: 'agreement-canceled', institutionNo: diary.sharedAgreementNo, reason: 'so' }, 'BANKPAY'),
    );
    expect(diary.entries.slice(2)).toEqual([
      ['2027-01-20 09:01', 'order UNSUBSCRIBED, period 2-12 CANCELED', 'UNSUBSCRIBED'],
    ]);
  });
});
