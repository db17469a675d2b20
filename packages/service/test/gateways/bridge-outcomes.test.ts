import { type Fields, fieldsOf } from '@perennial/wire/bridge';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  readBindCodeOutcome,
  readBindOutcome,
  readCancelOutcome,
  readDebitOutcome,
  readDebitQueryOutcome,
  readNotice,
  readRefundOutcome,
  readRefundQueryOutcome,
  readStatementPage,
} from '../../src/gateways/bridge/read-outcomes.js';

const SUCCESS = {
  attemptNo: '7',
  status: 'SUCCESS',
  amountCent: 1990,
  paidAt: 1_700_000_000_000,
  institutionRef: 'R1',
};
const REFUNDED = { refundNo: '7', status: 'SUCCESS', amountCent: 10, refundedAt: 1_700_000_000_000 };
const LINE = {
  kind: 'DEBIT',
  number: '7',
  amountCent: 1990,
  status: 'SUCCESS',
  bookedAt: 1_700_000_000_000,
  institutionRef: 'R1',
};

const unknown = { kind: 'unknown' };

describe('a debit', () => {
  it.each<[string, Fields | undefined, object]>([
    ['success', SUCCESS, { kind: 'success', amountCent: 1990, paidAt: 1_700_000_000_000, institutionRef: 'R1' }],
    ['success with another amount', { ...SUCCESS, amountCent: 1 }, { kind: 'success', amountCent: 1 }],
    ['pending', { attemptNo: '7', status: 'PENDING' }, { kind: 'pending' }],
    [
      'retryable',
      { attemptNo: '7', status: 'DECLINED', decline: 'RETRYABLE', reason: 'no money' },
      { kind: 'declined', decline: 'retryable', reason: 'no money' },
    ],
    [
      'final, without a reason',
      { attemptNo: '7', status: 'DECLINED', decline: 'FINAL' },
      { kind: 'declined', decline: 'final', reason: '' },
    ],
    [
      'agreement invalid',
      { attemptNo: '7', status: 'DECLINED', decline: 'AGREEMENT_INVALID', reason: 4 },
      { kind: 'declined', decline: 'agreement-invalid', reason: '' },
    ],
    ['no answer', undefined, unknown],
    ['an empty answer', {}, unknown],
    ['another number', { ...SUCCESS, attemptNo: '8' }, unknown],
    ['a number instead of text', { ...SUCCESS, attemptNo: 7 }, unknown],
    ['an unknown status', { ...SUCCESS, status: 'success' }, unknown],
    ['not found, which is invalid for a debit', { attemptNo: '7', status: 'NOT_FOUND' }, unknown],
    ['success without an amount', { ...SUCCESS, amountCent: undefined }, unknown],
    ['success with the amount 0', { ...SUCCESS, amountCent: 0 }, unknown],
    ['success with a negative amount', { ...SUCCESS, amountCent: -1990 }, unknown],
    ['success with a fraction of a cent', { ...SUCCESS, amountCent: 19.9 }, unknown],
    ['success with an amount as text', { ...SUCCESS, amountCent: '1990' }, unknown],
    ['success with too large an amount', { ...SUCCESS, amountCent: 2 ** 53 }, unknown],
    ['success without a time', { ...SUCCESS, paidAt: undefined }, unknown],
    ['success with an impossible time', { ...SUCCESS, paidAt: 8.64e15 }, unknown],
    ['success in the year 10000 of UTC+8', { ...SUCCESS, paidAt: Date.UTC(9999, 11, 31, 16) }, unknown],
    ['success without a reference', { ...SUCCESS, institutionRef: '' }, unknown],
    ['success with an unprintable reference', { ...SUCCESS, institutionRef: 'a\u0000b' }, unknown],
    ['a decline without a kind', { attemptNo: '7', status: 'DECLINED', reason: 'x' }, unknown],
    ['a decline of an unknown kind', { attemptNo: '7', status: 'DECLINED', decline: 'constructor' }, unknown],
  ])('answered with %s', (_what, answer, expected) => {
    expect(readDebitOutcome(answer, '7')).toMatchObject(expected);
    if (answer?.['status'] !== 'NOT_FOUND') expect(readDebitQueryOutcome(answer, '7')).toMatchObject(expected);
  });

  it('may be unknown to the institution in a query', () => {
    expect(readDebitQueryOutcome({ attemptNo: '7', status: 'NOT_FOUND' }, '7')).toEqual({ kind: 'not-found' });
    expect(readDebitQueryOutcome({ attemptNo: '8', status: 'NOT_FOUND' }, '7')).toEqual(unknown);
  });

  it('has a reason without card or mobile numbers', () => {
    const reason = `card 6222 0212 3456 7890 of 13812345678\n${'x'.repeat(500)}`;
    const outcome = readDebitOutcome({ attemptNo: '7', status: 'DECLINED', decline: 'FINAL', reason }, '7');
    expect(outcome).toMatchObject({ reason: expect.stringMatching(/^card … of … x{180,}$/) });
    expect(outcome.kind === 'declined' && outcome.reason.length).toBeLessThanOrEqual(200);
  });
});

describe('a refund', () => {
  it.each<[string, Fields | undefined, object]>([
    ['success', REFUNDED, { kind: 'success', amountCent: 10, refundedAt: 1_700_000_000_000 }],
    ['success with a reference', { ...REFUNDED, institutionRef: 're_7' }, { kind: 'success', institutionRef: 're_7' }],
    ['a reference that cannot be stored', { ...REFUNDED, institutionRef: 'x'.repeat(65) }, { kind: 'success' }],
    ['pending', { refundNo: '7', status: 'PENDING' }, { kind: 'pending' }],
    ['refused', { refundNo: '7', status: 'REFUSED', reason: 'no' }, { kind: 'refused', reason: 'no' }],
    ['no answer', undefined, unknown],
    ['another number', { ...REFUNDED, refundNo: '8' }, unknown],
    ['success without an amount', { ...REFUNDED, amountCent: null }, unknown],
    ['success without a time', { ...REFUNDED, refundedAt: 0 }, unknown],
    ['an unknown status', { ...REFUNDED, status: 'DONE' }, unknown],
  ])('answered with %s', (_what, answer, expected) => {
    expect(readRefundOutcome(answer, '7')).toMatchObject(expected);
    expect(readRefundQueryOutcome(answer, '7')).toMatchObject(expected);
  });

  it('may be unknown to the institution in a query', () => {
    const answer = { refundNo: '7', status: 'NOT_FOUND' };
    expect(readRefundQueryOutcome(answer, '7')).toEqual({ kind: 'not-found' });
    expect(readRefundOutcome(answer, '7')).toEqual(unknown);
  });
});

describe('an agreement', () => {
  it('has its documented answers', () => {
    expect(readBindCodeOutcome({ status: 'SENT', reference: 'r' })).toEqual({ kind: 'sent', reference: 'r' });
    expect(readBindCodeOutcome({ status: 'SENT', reference: null })).toEqual({ kind: 'sent', reference: undefined });
    expect(readBindCodeOutcome({ status: 'SENT', reference: 4 })).toEqual(unknown);
    expect(readBindCodeOutcome({ status: 'NOT_SENT', reason: 'x' })).toEqual({ kind: 'not-sent', reason: 'x' });
    expect(readBindCodeOutcome({ status: 'sent' })).toEqual(unknown);
    expect(readBindOutcome({ status: 'BOUND', institutionNo: 'A1' })).toEqual({ kind: 'bound', institutionNo: 'A1' });
    expect(readBindOutcome({ status: 'BOUND', institutionNo: '\ud800' })).toEqual(unknown);
    expect(readBindOutcome({ status: 'BOUND' })).toEqual(unknown);
    expect(readBindOutcome({ status: 'WRONG_CODE' })).toEqual({ kind: 'wrong-code', reason: '' });
    expect(readBindOutcome({ status: 'REFUSED', reason: 'x' })).toEqual({ kind: 'refused', reason: 'x' });
    expect(readBindOutcome(undefined)).toEqual(unknown);
    expect(readCancelOutcome({ status: 'CANCELED' })).toEqual({ kind: 'canceled' });
    expect(readCancelOutcome({ status: 'REFUSED', reason: 'x' })).toEqual({ kind: 'refused', reason: 'x' });
    expect(readCancelOutcome({ status: 'OK' })).toEqual(unknown);
  });
});

describe('a page of a statement', () => {
  const page = (more: object) =>
    readStatementPage({ day: '2026-03-20', lines: [LINE], nextCursor: null, ...more }, '2026-03-20');

  it.each<[string, object]>([
    ['without lines', { lines: undefined }],
    ['with an invalid line', { lines: [LINE, null] }],
    ['with a line without a kind', { lines: [LINE, { ...LINE, kind: 'debit' }] }],
    ['with a line without a status', { lines: [{ ...LINE, status: 'DONE' }] }],
    ['with a line without an amount', { lines: [{ ...LINE, amountCent: 1.5 }] }],
    ['with too many lines', { lines: Array.from({ length: 1001 }, () => LINE) }],
    ['without nextCursor', { nextCursor: undefined }],
    ['that is empty but not the last', { lines: [], nextCursor: 'x' }],
  ])('%s is refused', (_what, more) => {
    expect(page(more)).toBeUndefined();
  });
});

it('every answer has an outcome, and success only if the answer says so', () => {
  const word = fc.constantFrom(
    ...['SUCCESS', 'DECLINED', 'PENDING', 'NOT_FOUND', 'RETRYABLE', 'BOUND', 'SENT', 'DEBIT', '7', '__proto__', ''],
  );
  const value = fc.oneof(word, fc.jsonValue(), fc.integer(), fc.constant(undefined));
  const names = [
    'status',
    'attemptNo',
    'refundNo',
    'amountCent',
    'paidAt',
    'institutionRef',
    'decline',
    'reason',
    'kind',
  ];
  const answer = fc.record(Object.fromEntries(names.map((name) => [name, value])), { requiredKeys: [] });
  fc.assert(
    fc.property(answer, (given) => {
      const fields = fieldsOf(given) ?? {};
      const outcome = readDebitQueryOutcome(fields, '7');
      if (outcome.kind === 'success') expect(fields['status']).toBe('SUCCESS');
      if (outcome.kind !== 'unknown') expect(fields['attemptNo']).toBe('7');
      readNotice(fields);
      readRefundQueryOutcome(fields, '7');
      readBindOutcome(fields);
      readBindCodeOutcome(fields);
      readCancelOutcome(fields);
      readStatementPage(fields, '7');
    }),
  );
});
