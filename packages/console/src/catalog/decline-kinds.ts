import type { DeclineKind } from '@perennial/wire/enums';
import { dictionary } from '../i18n/dictionary.ts';

const KINDS = {
  INSUFFICIENT_FUNDS: ['Insufficient funds', '余额不足'],
  LIMIT_EXCEEDED: ['Limit exceeded', '超出限额'],
  CARD_EXPIRED: ['Card expired', '银行卡已过期'],
  CARD_LOST: ['Card lost or stolen', '银行卡已挂失'],
  ACCOUNT_CLOSED: ['Account closed or frozen', '账户已注销或冻结'],
  AGREEMENT_ENDED: ['Agreement ended', '代扣协议已解约'],
  WRONG_DETAILS: ['Wrong details', '卡信息有误'],
  SUSPECTED_FRAUD: ['Suspected fraud', '触发风控'],
  NOT_PERMITTED: ['Not permitted', '交易不允许'],
  INSTITUTION_UNAVAILABLE: ['Institution unavailable', '支付机构不可用'],
  TECHNICAL: ['Technical error', '技术故障'],
  OTHER: ['Other', '其他原因'],
} as const satisfies Readonly<Record<DeclineKind, readonly [en: string, zh: string]>>;

/** The names of the kinds of declines. */
export const useDeclineKinds = dictionary(KINDS);

interface Declined {
  readonly declineKind: DeclineKind | null;
  readonly reason: string | null;
}

/** Returns a function that formats the kind of a decline and the institution's own words. Null without either. */
export function useDeclineText() {
  const kinds = useDeclineKinds();
  return ({ declineKind, reason }: Declined): string | null => {
    const kind = declineKind === null || declineKind === 'OTHER' ? [] : [kinds(declineKind)];
    return [...kind, ...(reason ? [reason] : [])].join(' · ') || null;
  };
}
