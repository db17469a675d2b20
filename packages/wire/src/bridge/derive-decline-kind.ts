import { type DeclineKind, declineKinds } from '../enums.js';
import type { WireDecline } from './messages.js';

/** Response codes of card networks and UnionPay (ISO 8583, field 39). */
const CARD_CODES: Readonly<Partial<Record<DeclineKind, readonly string[]>>> = {
  INSUFFICIENT_FUNDS: ['51'],
  LIMIT_EXCEEDED: ['61', '65'],
  CARD_EXPIRED: ['33', '54'],
  CARD_LOST: ['04', '41', '43'],
  ACCOUNT_CLOSED: ['46', '78'],
  AGREEMENT_ENDED: ['R0', 'R1', 'R3'],
  WRONG_DETAILS: ['14', '15', '55', '82', 'N7'],
  SUSPECTED_FRAUD: ['07', '34', '59', '63'],
  NOT_PERMITTED: ['57', '58', '62', '93'],
  INSTITUTION_UNAVAILABLE: ['68', '91', '92'],
  TECHNICAL: ['06', '12', '30', '96'],
};

/**
 * Words of institutions, in snake case, in English and in Chinese. The first row that matches decides, so that "account
 * does not exist" is not taken for wrong details.
 */
const WORDS: readonly (readonly [DeclineKind, RegExp])[] = [
  ['INSUFFICIENT_FUNDS', /insufficient (?:funds|balance)|balance (?:is )?not enough|no (?:funds|money)|余额不足/],
  ['LIMIT_EXCEEDED', /limit|velocity|exceed|限额|超限|限次|超出/],
  ['CARD_EXPIRED', /expired? (?:card|payment method)|card (?:has |is )?expired|卡.{0,4}过期|已过有效期/],
  ['CARD_LOST', /lost|stolen|pick ?up card|挂失|丢失|被盗/],
  ['AGREEMENT_ENDED', /agreement|mandate|revo(?:ked|cation)|unsigned|stop payment|解约|未签约|协议/],
  [
    'ACCOUNT_CLOSED',
    /(?:account|card) (?:is |was )?(?:closed|frozen|blocked)|no (?:such )?account|account not exist|销户|冻结|止付/,
  ],
  ['SUSPECTED_FRAUD', /fraud|risk|suspect|security violation|风险|风控|可疑/],
  [
    'WRONG_DETAILS',
    /(?:incorrect|invalid|wrong) (?:card|number|cvc|pin|account|name|expiry|details)|no such card|信息有误|不匹配|卡号错误/,
  ],
  ['NOT_PERMITTED', /not (?:permitted|allowed|supported)|restricted|authentication required|forbid|不允许|不支持|受限/],
  ['INSTITUTION_UNAVAILABLE', /not available|unavailable|time ?out|timed out|could not be reached|系统繁忙|超时|维护/],
  ['TECHNICAL', /processing error|system error|malfunction|technical|系统异常|系统错误/],
];

const kindsByCode: ReadonlyMap<string, DeclineKind> = new Map(
  declineKinds.flatMap((kind) => (CARD_CODES[kind] ?? []).map((code) => [code, kind] as const)),
);

/** A two-character code at the beginning, in brackets, or after the word code. */
const CODE = /^([0-9NR][0-9])(?![0-9A-Za-z])|[([]([0-9NR][0-9])[)\]]|\bcode[ :=]*([0-9NR][0-9])(?![0-9A-Za-z])/i;

/** Returns the kind that a bridge has named, or undefined if it named none that is known. */
export function declineKindOf(value: unknown): DeclineKind | undefined {
  return declineKinds.find((kind) => kind === value);
}

/** Returns the kind of a decline whose bridge named none: from a known code or known words in the reason. */
export function deriveDeclineKind(reason: string, decline?: WireDecline): DeclineKind {
  const found = CODE.exec(reason);
  const code = (found?.[1] ?? found?.[2] ?? found?.[3])?.toUpperCase();
  const byCode = code === undefined ? undefined : kindsByCode.get(code);
  if (byCode !== undefined) return byCode;
  const words = reason.toLowerCase().replaceAll(/[_-]/g, ' ');
  const byWords = WORDS.find(([, form]) => form.test(words))?.[0];
  return byWords ?? (decline === 'AGREEMENT_INVALID' ? 'AGREEMENT_ENDED' : 'OTHER');
}
