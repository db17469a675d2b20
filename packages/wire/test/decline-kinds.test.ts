import { describe, expect, it } from 'vitest';
import { declineKindOf, declineKinds, deriveDeclineKind } from '../src/bridge/index.js';

describe('the kind of a decline whose bridge names none', () => {
  it.each([
    ['insufficient funds', 'INSUFFICIENT_FUNDS'],
    ['declined (51)', 'INSUFFICIENT_FUNDS'],
    ['账户余额不足', 'INSUFFICIENT_FUNDS'],
    ['code 61: amount', 'LIMIT_EXCEEDED'],
    ['the user’s limit for a day is reached', 'LIMIT_EXCEEDED'],
    ['the card has expired (expired_card)', 'CARD_EXPIRED'],
    ['卡片已过期', 'CARD_EXPIRED'],
    ['43 stolen', 'CARD_LOST'],
    ['the card was reported lost', 'CARD_LOST'],
    ['the account is frozen', 'ACCOUNT_CLOSED'],
    ['ACCOUNT_CLOSED', 'ACCOUNT_CLOSED'],
    ['the agreement has ended', 'AGREEMENT_ENDED'],
    ['用户已解约', 'AGREEMENT_ENDED'],
    ['invalid_number', 'WRONG_DETAILS'],
    ['suspected fraud [59]', 'SUSPECTED_FRAUD'],
    ['transaction not permitted', 'NOT_PERMITTED'],
    ['the bank could not be reached', 'INSTITUTION_UNAVAILABLE'],
    ['系统异常，请稍后', 'TECHNICAL'],
    ['declined', 'OTHER'],
    ['payment 51 of 60', 'OTHER'],
    ['', 'OTHER'],
  ] as const)('is derived from the reason %j: %s', (reason, kind) => {
    expect(deriveDeclineKind(reason)).toBe(kind);
  });

  it('is AGREEMENT_ENDED if only the decline says that the agreement is invalid', () => {
    expect(deriveDeclineKind('no', 'AGREEMENT_INVALID')).toBe('AGREEMENT_ENDED');
    expect(deriveDeclineKind('card lost', 'AGREEMENT_INVALID')).toBe('CARD_LOST');
  });

  it('counts as not named if it is not in the list', () => {
    for (const kind of declineKinds) expect(declineKindOf(kind)).toBe(kind);
    for (const other of ['insufficient_funds', '', 'MISC', null, 7]) expect(declineKindOf(other)).toBeUndefined();
  });
});
