import { openCode } from '../benefits/claim-code.js';
import { claimNoOf } from '../benefits/claim-numbers.js';
import { dueAt } from '../orders/calendar.js';
import { nextPayAt, type Order } from '../orders/order.js';
import type { BenefitReference, BenefitRow, PageRead } from './page-sql.js';
import { MOST_COUNTED, PAGE_BENEFITS } from './page-sql.js';
import type { Visit } from './visit.js';

/** A benefit as a user has it at this moment. */
export type BenefitView = Pick<BenefitRow, 'cycleNo' | 'position' | 'name' | 'faceValueCent'> &
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
  readonly benefits: readonly BenefitView[];
  /** All that can be claimed, on this page or not; `100+` for very many. */
  readonly claimable: string;
  /** The newest that can be claimed and is not on this page. */
  readonly claimableElsewhere: BenefitReference | undefined;
  /** Where the page with older ones begins. */
  readonly older: BenefitReference | undefined;
}

export function viewOf({ channel, read }: Visit<PageRead>, now: number): PageView {
  const { order, hasMobile, productName, benefits, claimable } = read;
  const shown = benefits.slice(0, PAGE_BENEFITS);
  const isShown = ({ cycleNo, position }: BenefitReference) =>
    shown.some((row) => row.cycleNo === cycleNo && row.position === position);
  return {
    productName,
    order,
    hasMobile,
    periodFrom: dueAt(order.createdAt, order, order.cycleNo),
    periodTo: dueAt(order.createdAt, order, order.cycleNo + 1),
    nextPayAt: nextPayAt(order),
    benefits: shown.map((row) => {
      const claimNo = claimNoOf({ ...row, orderNo: order.orderNo });
      return benefitOf(row, now, (sealed) => openCode(channel, claimNo, sealed));
    }),
    claimable: claimable.length < MOST_COUNTED ? String(claimable.length) : `${MOST_COUNTED}+`,
    claimableElsewhere: claimable.find((one) => !isShown(one)),
    older: benefits[PAGE_BENEFITS],
  };
}

/** One that has just expired may still be written down as issued. */
function benefitOf(row: BenefitRow, now: number, open: (sealed: string) => string): BenefitView {
  const { cycleNo, position, name, faceValueCent, status, expiresAt, claimedAt, code } = row;
  const what = { cycleNo, position, name, faceValueCent };
  if (status === 'CLAIMED') return { ...what, state: 'CLAIMED', claimedAt, code: code === null ? null : open(code) };
  if (status === 'REVOKED') return { ...what, state: 'REVOKED' };
  return { ...what, state: status === 'ISSUED' && expiresAt > now ? 'CLAIMABLE' : 'EXPIRED', expiresAt };
}
