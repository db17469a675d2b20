import { signRedeemLink } from '@perennial/wire';
import type { Channel } from '../catalog/channels/channel.js';
import { unsealClaimCode } from '../subscriptions/domain/benefits/claim-code.js';
import { formatClaimNo } from '../subscriptions/domain/benefits/claim-numbers.js';
import { periodDueAt } from '../subscriptions/domain/orders/calendar.js';
import { nextPayAt, type Order } from '../subscriptions/domain/orders/order.js';
import type { SignedLink } from './link.js';
import type { BenefitRow, JustClaimed, ListedBenefit, RedeemList, RedeemPage, ShownBenefit } from './page-sql.js';
import { FIRST_CODES, FIRST_TO_CLAIM } from './page-sql.js';
import { webAddress } from './seller.js';
import { toShownText } from './shown-text.js';
import type { Visit } from './visit.js';

interface BenefitFacts extends Pick<BenefitRow, 'cycleNo' | 'position' | 'faceValueCent' | 'icon'> {
  readonly name: string;
  readonly description: string | undefined;
}

export type PageBenefit = Claimable | Claimed | Gone;

export interface Claimable extends BenefitFacts {
  readonly state: 'CLAIMABLE';
  /** The deadline of the benefit or of the link, whichever is earlier. */
  readonly deadline: number;
  /**
   * True if `deadline` is the benefit's own deadline, and not the deadline of the link. A link can be renewed, a
   * benefit cannot.
   */
  readonly isOwnDeadline: boolean;
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

export function createPageView(visit: Visit<RedeemPage>, now: number, done: JustClaimed | undefined) {
  const { read } = visit;
  const { order, productName, benefits, payments } = read;
  const firsts = (list: ListedBenefit['list'], count: number) =>
    benefits.filter((row) => row.list === list && row.rank <= count);
  const of = (list: ListedBenefit['list']) => benefits.find((row) => row.list === list);
  const shown = (rows: readonly ListedBenefit[]) => rows.map((row) => toPageBenefit(visit, row, now));
  return {
    productName: toShownText(productName),
    order,
    /** Start and end of the latest period. */
    periodFrom: periodDueAt(order.createdAt, order, order.cycleNo),
    periodTo: periodDueAt(order.createdAt, order, order.cycleNo + 1),
    nextPayAt: nextPayAt(order),
    toClaim: keepWholeGroups(groupByPeriod(shown(firsts('TO_CLAIM', FIRST_TO_CLAIM)))),
    toClaimCount: of('TO_CLAIM')?.total ?? 0,
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
  };
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
function toPageBenefit({ channel, link, read }: Visit, row: ShownBenefit, now: number): PageBenefit {
  const { cycleNo, position, faceValueCent, icon, status, expiresAt, claimedAt, code } = row;
  const description = row.description === null ? undefined : toShownText(row.description);
  const what = { cycleNo, position, faceValueCent, icon, name: toShownText(row.name), description };
  if (status === 'CLAIMED') {
    const claimNo = formatClaimNo({ ...row, orderNo: read.order.orderNo });
    const open = code === null ? null : unsealClaimCode(channel, claimNo, code);
    return { ...what, state: 'CLAIMED', claimedAt, code: open, useUrl: webAddress(row.useUrl) };
  }
  if (status === 'REVOKED') return { ...what, state: 'REVOKED', expiresAt };
  if (status === 'EXPIRED' || expiresAt <= now) return { ...what, state: 'EXPIRED', expiresAt };
  const deadline = Math.min(expiresAt, link.exp * 1000);
  return { ...what, state: 'CLAIMABLE', deadline, isOwnDeadline: deadline === expiresAt, ofPeriod: row.ofPeriod };
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
