import { unsealClaimCode } from '../subscriptions/domain/benefits/claim-code.js';
import { formatClaimNo } from '../subscriptions/domain/benefits/claim-numbers.js';
import { periodDueAt } from '../subscriptions/domain/orders/calendar.js';
import { nextPayAt, type Order } from '../subscriptions/domain/orders/order.js';
import { countBytes, html } from './html.js';
import type { BenefitPosition, BenefitRow, RedeemPage } from './page-sql.js';
import { MAX_COUNTED, PAGE_BENEFITS } from './page-sql.js';
import type { Visit } from './visit.js';

/** A benefit as the user sees it now. */
export type PageBenefit = Pick<BenefitRow, 'cycleNo' | 'position' | 'name' | 'faceValueCent'> &
  (
    | { readonly state: 'CLAIMABLE'; readonly expiresAt: number }
    | { readonly state: 'EXPIRED'; readonly expiresAt: number }
    | { readonly state: 'CLAIMED'; readonly claimedAt: number | null; readonly code: string | null }
    | { readonly state: 'REVOKED' }
  );

export interface PageView {
  readonly productName: string;
  readonly order: Order;
  readonly hasMobile: boolean;
  /** Of the period that was started last. */
  readonly periodFrom: number;
  readonly periodTo: number;
  readonly nextPayAt: number | null;
  readonly benefits: readonly PageBenefit[];
  /** How many benefits can be claimed, on this page or not; `100+` for very many. */
  readonly claimable: string;
  /** What can be claimed and is not on this page. */
  readonly newerToClaim: BenefitsElsewhere | undefined;
  readonly olderToClaim: BenefitsElsewhere | undefined;
  /** Where the page with older ones begins. */
  readonly older: BenefitPosition | undefined;
}

export interface BenefitsElsewhere {
  readonly count: string;
  /** The newest of them. */
  readonly first: BenefitPosition;
}

/** Of the names and codes on one page. With the largest QR picture beside them the page is below 50 KB. */
const MAX_TEXT_BYTES = 9_000;

export function createPageView({ channel, read }: Visit<RedeemPage>, now: number): PageView {
  const { order, hasMobile, productName, benefits, claimable } = read;
  const shown = takeFitting(
    benefits.slice(0, PAGE_BENEFITS).map((row) => {
      const claimNo = formatClaimNo({ ...row, orderNo: order.orderNo });
      return toPageBenefit(row, now, (sealed) => unsealClaimCode(channel, claimNo, sealed));
    }),
  );
  const [first, last] = [shown.at(0), shown.at(-1)];
  const elsewhere = (those: readonly BenefitPosition[]): BenefitsElsewhere | undefined =>
    those[0] && { first: those[0], count: countText(those.length, those.at(-1) === claimable[MAX_COUNTED - 1]) };
  return {
    productName,
    order,
    hasMobile,
    periodFrom: periodDueAt(order.createdAt, order, order.cycleNo),
    periodTo: periodDueAt(order.createdAt, order, order.cycleNo + 1),
    nextPayAt: nextPayAt(order),
    benefits: shown,
    claimable: countText(claimable.length, claimable.length === MAX_COUNTED),
    newerToClaim: elsewhere(claimable.filter((one) => !first || isBefore(one, first))),
    olderToClaim: elsewhere(claimable.filter((one) => last && isBefore(last, one))),
    older: benefits[shown.length],
  };
}

/** In the order of the pages: the newest period first, and within it the first position. */
const isBefore = (one: BenefitPosition, other: BenefitPosition): boolean =>
  one.cycleNo === other.cycleNo ? one.position < other.position : one.cycleNo > other.cycleNo;

const countText = (count: number, mayBeMore: boolean): string => `${count}${mayBeMore ? '+' : ''}`;

/** The benefits that fit on a page; always at least the first. */
function takeFitting(benefits: readonly PageBenefit[]): PageBenefit[] {
  let bytes = 0;
  return benefits.filter((one, index) => {
    bytes += countBytes(html`${one.name}${one.state === 'CLAIMED' ? (one.code ?? '') : ''}`);
    return index === 0 || bytes <= MAX_TEXT_BYTES;
  });
}

/** A benefit that has just expired may still be stored as ISSUED. */
function toPageBenefit(row: BenefitRow, now: number, open: (sealed: string) => string): PageBenefit {
  const { cycleNo, position, name, faceValueCent, status, expiresAt, claimedAt, code } = row;
  const what = { cycleNo, position, name, faceValueCent };
  if (status === 'CLAIMED') return { ...what, state: 'CLAIMED', claimedAt, code: code === null ? null : open(code) };
  if (status === 'REVOKED') return { ...what, state: 'REVOKED' };
  return { ...what, state: status === 'ISSUED' && expiresAt > now ? 'CLAIMABLE' : 'EXPIRED', expiresAt };
}
