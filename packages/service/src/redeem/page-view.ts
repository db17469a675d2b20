import { signRedeemLink } from '@perennial/wire';
import type { Channel } from '../catalog/channels/channel.js';
import { unsealClaimCode } from '../subscriptions/domain/benefits/claim-code.js';
import { formatClaimNo } from '../subscriptions/domain/benefits/claim-numbers.js';
import { periodDueAt } from '../subscriptions/domain/orders/calendar.js';
import { nextPayAt, type Order } from '../subscriptions/domain/orders/order.js';
import type { SignedLink } from './link.js';
import { webAddress } from './seller.js';
import { toShownText } from './shown-text.js';
import type { BenefitRow, JustClaimed, ShownBenefit } from './store/benefits-sql.js';
import type { RedeemList } from './store/list-page-sql.js';
import type { LastPaid, RedeemPage } from './store/main-page-sql.js';
import type { RedeemProduct } from './store/order-sql.js';
import { FIRST_CODES, FIRST_TO_CLAIM } from './store/page-sizes.js';
import type { PaymentRow } from './store/payments-sql.js';
import type { ListedBenefit } from './store/ranked-benefits-sql.js';
import type { Texts } from './texts/en.js';
import type { Visit } from './visit.js';

interface BenefitFacts extends Pick<BenefitRow, 'cycleNo' | 'position' | 'faceValueCent' | 'icon'> {
  readonly name: string;
  readonly description: string | undefined;
}

export type PageBenefit = Claimable | Claimed | Gone;

export interface Claimable extends BenefitFacts {
  readonly state: 'CLAIMABLE';
  /** The benefit's own deadline. The link may expire earlier, but a link can be renewed. */
  readonly deadline: number;
  /** The number of claimable benefits of the same period. */
  readonly ofPeriod: number;
}

export interface Claimed extends BenefitFacts {
  readonly state: 'CLAIMED';
  readonly claimedAt: number | null;
  readonly code: string | null;
  readonly useUrl: string | undefined;
}

export interface Gone extends BenefitFacts {
  readonly state: 'EXPIRED' | 'REVOKED';
  readonly expiresAt: number;
}

/** The claimable benefits of one period, nearest deadline first. */
export interface ClaimableGroup {
  readonly cycleNo: number;
  readonly benefits: readonly [Claimable, ...Claimable[]];
  /** The number of claimable benefits in the period, including those on other pages. */
  readonly count: number;
}

/** Returns the product's name in the language of the page, or else its only name. */
export function productNameOf({ product, order }: RedeemProduct, language: 'zh' | 'en'): string {
  return toShownText(product?.[language] ?? product?.name ?? order.productCode);
}

/** Returns false if the product grants no benefits. Its pages must not promise any. */
export const hasBenefits = ({ product }: RedeemProduct): boolean => product?.hasBenefits ?? true;

export const backText = (texts: Texts, read: RedeemProduct): string =>
  hasBenefits(read) ? texts.back : texts.backToSubscription;

/** The benefits of all periods were claimed with one press. No period has the number 0. */
export const EVERYTHING: JustClaimed = { cycleNo: 0, position: undefined };

export function createPageView(
  visit: Visit<RedeemPage>,
  now: number,
  done: JustClaimed | undefined,
  language: 'zh' | 'en',
) {
  const { read } = visit;
  const { order, benefits, payments, payWith } = read;
  const firsts = (list: ListedBenefit['list'], count: number) =>
    benefits.filter((row) => row.list === list && row.rank <= count);
  const of = (list: ListedBenefit['list']) => benefits.find((row) => row.list === list);
  const shown = (rows: readonly ListedBenefit[]) => rows.map((row) => toPageBenefit(visit, row, now));
  return {
    productName: productNameOf(read, language),
    hasBenefits: hasBenefits(read),
    order,
    /** Start and end of the latest period. */
    periodFrom: periodDueAt(order.createdAt, order, order.cycleNo),
    periodTo: periodDueAt(order.createdAt, order, order.cycleNo + 1),
    nextPayAt: nextPayAt(order),
    /** The end of the last period. */
    termEnd: periodDueAt(order.createdAt, order, order.totalCycles + 1),
    toClaim: keepWholeGroups(groupByPeriod(shown(firsts('TO_CLAIM', FIRST_TO_CLAIM)))),
    toClaimCount: of('TO_CLAIM')?.total ?? 0,
    /** True if the claimable benefits belong to several periods. */
    isOfManyPeriods: (of('TO_CLAIM')?.total ?? 0) > (of('TO_CLAIM')?.ofPeriod ?? 0),
    /** The deadline of the last claimable benefit. */
    lastDeadline: of('TO_CLAIM')?.lastExpiresAt ?? null,
    /** When the last of the claimable and claimed benefits expires. */
    lastExpiresAt: Math.max(of('TO_CLAIM')?.lastExpiresAt ?? 0, of('CLAIMED')?.lastExpiresAt ?? 0) || null,
    /** True if one of the claims that were read waits for its code. */
    isCodePending: benefits.some(({ list, code }) => list === 'CLAIMED' && code === null),
    codes: shown(firsts('CLAIMED', FIRST_CODES).filter((row) => !isDone(row, done))).filter(isClaimed),
    codesCount: of('CLAIMED')?.total ?? 0,
    pastCount: read.pastCount,
    done: toDone(visit, benefits, done, now),
    payments,
    payWith,
    lastPaid: findLastPaid(payments) ?? read.lastPaid,
  };
}

function findLastPaid(payments: readonly PaymentRow[]): LastPaid | undefined {
  const paid = payments.find(({ paidAt }) => paidAt !== null);
  return paid && paid.paidAt !== null ? { at: paid.paidAt, amountCent: paid.amountCent } : undefined;
}

export type PageView = ReturnType<typeof createPageView>;

/**
 * Returns true if this benefit was just claimed. If its whole period was just claimed, returns true even for a benefit
 * whose claim failed, because all of them are shown with their results.
 */
const isDone = ({ cycleNo, position, status }: BenefitRow, done: JustClaimed | undefined): boolean =>
  cycleNo === done?.cycleNo && (done.position === undefined || (position === done.position && status === 'CLAIMED'));

/** Returns the benefits just claimed. */
export const toDone = (
  visit: Visit,
  rows: readonly ShownBenefit[],
  done: JustClaimed | undefined,
  now: number,
): PageBenefit[] =>
  rows
    .filter((row) => isDone(row, done))
    .sort((one, other) => one.position - other.position)
    .map((row) => toPageBenefit(visit, row, now));

export const toPageBenefits = (visit: Visit<RedeemList>, now: number): PageBenefit[] =>
  visit.read.benefits.map((row) => toPageBenefit(visit, row, now));

export const isClaimed = (one: PageBenefit): one is Claimed => one.state === 'CLAIMED';
export const isClaimable = (one: PageBenefit): one is Claimable => one.state === 'CLAIMABLE';
export const isGone = (one: PageBenefit): one is Gone => one.state === 'EXPIRED' || one.state === 'REVOKED';

export function groupByPeriod(benefits: readonly PageBenefit[]): ClaimableGroup[] {
  const groups: { cycleNo: number; count: number; benefits: [Claimable, ...Claimable[]] }[] = [];
  for (const one of benefits.filter(isClaimable)) {
    const last = groups.at(-1);
    if (last?.cycleNo === one.cycleNo) last.benefits.push(one);
    else groups.push({ cycleNo: one.cycleNo, count: one.ofPeriod, benefits: [one] });
  }
  return groups;
}

/** Drops the last period if a part of it would be on the next page, unless it is the only period. */
export function keepWholeGroups(groups: readonly ClaimableGroup[]): readonly ClaimableGroup[] {
  const last = groups.at(-1);
  return last && groups.length > 1 && last.benefits.length < last.count ? groups.slice(0, -1) : groups;
}

/** Compares the expiry with the time, because a benefit that has just expired may still be stored as ISSUED. */
function toPageBenefit({ channel, read, codesShown }: Visit, row: ShownBenefit, now: number): PageBenefit {
  const { cycleNo, position, faceValueCent, icon, status, expiresAt, claimedAt, code } = row;
  const description = row.description === null ? undefined : toShownText(row.description);
  const what = { cycleNo, position, faceValueCent, icon, name: toShownText(row.name), description };
  if (status === 'CLAIMED') {
    const claimNo = formatClaimNo({ ...row, orderNo: read.order.orderNo });
    const open = code === null ? null : unsealClaimCode(channel, claimNo, code);
    if (open !== null) codesShown?.add({ ...row, orderNo: read.order.orderNo });
    return { ...what, state: 'CLAIMED', claimedAt, code: open, useUrl: webAddress(row.useUrl) };
  }
  if (status === 'REVOKED') return { ...what, state: 'REVOKED', expiresAt };
  if (status === 'EXPIRED' || expiresAt <= now) return { ...what, state: 'EXPIRED', expiresAt };
  return { ...what, state: 'CLAIMABLE', deadline: expiresAt, ofPeriod: row.ofPeriod };
}

/** A link that works until the order's last benefit expires. */
export interface LinkToKeep {
  /** The current link if it works long enough, else a link that works longer. */
  readonly link: SignedLink;
  readonly isPresent: boolean;
  /** True if the channel will get no further links for the order. */
  readonly isLast: boolean;
}

/**
 * Returns a link that works until all benefits have expired, for an order that has ended or that waits for a code.
 * Grants nothing new: whoever has the page could claim all the benefits anyway.
 */
export function findLinkToKeep(
  { channel, link }: { readonly channel: Channel; readonly link: SignedLink },
  order: Order,
  { lastExpiresAt, isCodePending = false }: Pick<PageView, 'lastExpiresAt'> & Partial<Pick<PageView, 'isCodePending'>>,
): LinkToKeep | undefined {
  const isLast = order.status === 'UNSUBSCRIBED';
  if (lastExpiresAt === null || !(isLast || order.status === 'COMPLETED' || isCodePending)) return undefined;
  const exp = Math.floor(lastExpiresAt / 1000);
  if (exp <= link.exp) return { link, isPresent: true, isLast };
  const longer = { ...link, exp };
  const sig = signRedeemLink({ ...longer, orderNo: String(link.orderNo) }, channel.callbackSecret);
  return { link: { ...longer, sig }, isPresent: false, isLast };
}
