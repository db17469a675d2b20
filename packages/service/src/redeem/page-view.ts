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
  /** The one that counts: its own, or that of the link if that is earlier. */
  readonly deadline: number;
  /** Whether the deadline is its own: a link may be had again, the benefit not. */
  readonly isOwnDeadline: boolean;
  /** How many of its period can be claimed. */
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

/** What can be claimed of one period, the nearest deadline first. */
export interface ClaimableGroup {
  readonly cycleNo: number;
  readonly benefits: readonly [Claimable, ...Claimable[]];
  /** How many the period has, on this page or not. */
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
    /** Of the period that was started last. */
    periodFrom: periodDueAt(order.createdAt, order, order.cycleNo),
    periodTo: periodDueAt(order.createdAt, order, order.cycleNo + 1),
    nextPayAt: nextPayAt(order),
    toClaim: keepWholeGroups(groupByPeriod(shown(firsts('TO_CLAIM', FIRST_TO_CLAIM)))),
    toClaimCount: of('TO_CLAIM')?.total ?? 0,
    /** Up to when the last of them can be claimed. */
    lastDeadline: of('TO_CLAIM')?.lastExpiresAt ?? null,
    /** When the last of what can be claimed and of what was expires. */
    lastExpiresAt: Math.max(of('TO_CLAIM')?.lastExpiresAt ?? 0, of('CLAIMED')?.lastExpiresAt ?? 0) || null,
    /** Whether a code is still on its way. */
    isCodePending: benefits.some(({ list, code }) => list === 'CLAIMED' && code === null),
    codes: shown(firsts('CLAIMED', FIRST_CODES).filter((row) => !isDone(row, done))).filter(isClaimed),
    codesCount: of('CLAIMED')?.total ?? 0,
    pastCount: read.pastCount,
    done: toDone(visit, benefits, done, now),
    payments,
  };
}

export type PageView = ReturnType<typeof createPageView>;

/** One benefit is done when it was claimed; of a period each is shown, with what became of it. */
const isDone = ({ cycleNo, position, status }: BenefitRow, done: JustClaimed | undefined): boolean =>
  cycleNo === done?.cycleNo && (done.position === undefined || (position === done.position && status === 'CLAIMED'));

/** Those of the rows that were just claimed. */
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

/** Without a last period of which a part would be on the next page, unless there is no other. */
export function keepWholeGroups(groups: readonly ClaimableGroup[]): readonly ClaimableGroup[] {
  const last = groups.at(-1);
  return last && groups.length > 1 && last.benefits.length < last.count ? groups.slice(0, -1) : groups;
}

/** A benefit that has just expired may still be stored as ISSUED. */
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

/** A link that lasts longer than those of the channel. */
export interface LinkToKeep {
  /** The present link, if that lasts as long. */
  readonly link: SignedLink;
  readonly isPresent: boolean;
  /** Whether the channel gets no other any more. */
  readonly isLast: boolean;
}

/**
 * Of an order that has ended, or whose code is still on its way: a link that lasts until what can be claimed and what was has
 * expired. Whoever holds the page could claim all of it anyway.
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
