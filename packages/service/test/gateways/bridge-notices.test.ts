import { signedHeaders } from '@perennial/wire/bridge';
import { describe, expect, it } from 'vitest';
import { NoticeRefused, type RawNotice } from '../../src/gateways/gateway.js';
import { gatewayTo, KEY } from '../institution/support.js';

const NOW = 1_773_979_200_000;
const PATH = '/gateway/v1/notices/REFBANK';
const PAID = {
  kind: 'DEBIT',
  noticeNo: 'N-1',
  attemptNo: '1',
  status: 'SUCCESS',
  amountCent: 1990,
  paidAt: NOW - 5,
  institutionRef: 'R1',
};

function notice(body: object | string = PAID, change: Partial<RawNotice> = {}, key: Buffer = KEY): RawNotice {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const headers = signedHeaders({ path: PATH, body: bytes, now: NOW, requestId: 'N-1' }, key);
  return { path: PATH, headers, body: bytes, now: NOW, ...change };
}

function verify(raw: RawNotice) {
  return gatewayTo('http://bank.example').verifyNotice(raw);
}

describe('a genuine notice', () => {
  it.each([
    [
      PAID,
      {
        kind: 'debit',
        attemptNo: '1',
        outcome: { kind: 'success', amountCent: 1990, paidAt: NOW - 5, institutionRef: 'R1' },
      },
    ],
    [
      { kind: 'DEBIT', noticeNo: 'N-1', attemptNo: '1', status: 'DECLINED', decline: 'FINAL', reason: 'blocked' },
      { kind: 'debit', attemptNo: '1', outcome: { kind: 'declined', decline: 'final', reason: 'blocked' } },
    ],
    [
      { kind: 'AGREEMENT_CANCELED', noticeNo: 'N-1', institutionNo: 'A1', reason: 'by the customer' },
      { kind: 'agreement-canceled', institutionNo: 'A1', reason: 'by the customer' },
    ],
  ])('is understood: %j', (body, expected) => {
    expect(verify(notice(body))).toEqual(expected);
  });

  it.each([-300_000, 300_000])('may be %i ms off', (skew) => {
    expect(verify(notice(PAID, { now: NOW + skew }))).toMatchObject({ attemptNo: '1' });
  });
});

describe('a notice is refused', () => {
  const { headers } = notice();
  const changed = (name: string, value: string | undefined) => notice(PAID, { headers: { ...headers, [name]: value } });

  it.each<[string, () => RawNotice, RegExp]>([
    ['signed with another key', () => notice(PAID, {}, Buffer.alloc(32, 8)), /signature/],
    ['for another path', () => notice(PAID, { path: '/gateway/v1/notices/OTHER' }), /signature/],
    [
      'with another body',
      () => notice(PAID, { body: Buffer.from(JSON.stringify({ ...PAID, amountCent: 1 })) }),
      /signature/,
    ],
    ['too old', () => notice(PAID, { now: NOW + 300_001 }), /timestamp/],
    ['too early', () => notice(PAID, { now: NOW - 300_001 }), /timestamp/],
    ['without a timestamp', () => changed('x-bridge-timestamp', undefined), /timestamp/],
    ['with a timestamp that is no number', () => changed('x-bridge-timestamp', 'now'), /timestamp/],
    ['with another timestamp', () => changed('x-bridge-timestamp', String(NOW + 1)), /signature/],
    ['without a nonce', () => changed('x-bridge-nonce', undefined), /nonce/],
    ['with another nonce', () => changed('x-bridge-nonce', '0'.repeat(32)), /signature/],
    ['without a request id', () => changed('x-bridge-request-id', undefined), /request-id/i],
    ['without a signature', () => changed('x-bridge-signature', undefined), /signature/i],
    ['with an endless signature', () => changed('x-bridge-signature', 'A'.repeat(10_000)), /signature/],
    ['that is too large', () => notice({ ...PAID, padding: 'x'.repeat(65_536) }), /large/],
    ['that is not JSON', () => notice('SUCCESS'), /result/],
    ['that is not UTF-8', () => invalidUtf8(), /result/],
    ['of an unknown kind', () => notice({ ...PAID, kind: 'REFUND' }), /result/],
    ['without a number', () => notice({ ...PAID, attemptNo: undefined }), /result/],
    ['of a success without an amount', () => notice({ ...PAID, amountCent: undefined }), /result/],
    ['that is still pending', () => notice({ ...PAID, status: 'PENDING' }), /result/],
    ['of an agreement without a number', () => notice({ kind: 'AGREEMENT_CANCELED' }), /result/],
  ])('%s', (_what, raw, why) => {
    expect(() => verify(raw())).toThrow(NoticeRefused);
    expect(() => verify(raw())).toThrow(why);
  });

  function invalidUtf8(): RawNotice {
    const body = Buffer.concat([Buffer.from('{"kind":"'), Buffer.from([0xff]), Buffer.from('"}')]);
    return { path: PATH, headers: signedHeaders({ path: PATH, body, now: NOW, requestId: 'N' }, KEY), body, now: NOW };
  }
});
