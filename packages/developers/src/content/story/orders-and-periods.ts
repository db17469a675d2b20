import { type PaymentStatus, redeemUrl } from '@perennial/wire';
import { bytesOf, DEMONSTRATION } from '../../demonstration.js';
import { DUE, type Order, PUBLIC_URL, STORY_TIME } from './cast.js';

/** Monthly price of TEST_SPU_001, the product of all orders here. */
const PRICE = 1990;
/** Seven days after `STORY_TIME`. */
const LINK_ENDS = 1_769_054_400;
const LINK_OF_NOTICE_ENDS = 1_771_300_800;
/** The fixed host of a link in a signed body: replacing a placeholder would invalidate the signature. */
const SIGNED_HOST = 'https://pay.example';

interface Progress {
  readonly status?: string;
  /** The statuses of the periods that have started; the first period is first. */
  readonly started: readonly PaymentStatus[];
  readonly nextPayTime?: string | null;
  readonly others?: PaymentStatus;
  readonly more?: Readonly<Record<string, unknown>>;
}

const isPaid = (status: PaymentStatus): boolean => status === 'SUCCESS' || status === 'BILLED';

export const paymentOrderNo = ({ orderNo }: Order, cycleNo: number): string =>
  `${orderNo}${String(cycleNo).padStart(4, '0')}`;

export function mainOrder(order: Order, { status = 'ACTIVE', started, nextPayTime, others = 'WAIT', more }: Progress) {
  return {
    orderNo: order.orderNo,
    externalOrderNo: order.externalOrderNo,
    createTime: STORY_TIME,
    orderStatus: status,
    orderSuccessTime: STORY_TIME,
    periodType: 'MONTH',
    period: 1,
    totalCycles: DUE.length,
    totalPaidAmountCent: PRICE * started.filter(isPaid).length,
    totalRefundAmountCent: 0,
    nextPayTime: nextPayTime === undefined ? DUE[started.length] : nextPayTime,
    unsubscribeTime: null,
    redeemUrl: linkOf(order),
    ...more,
    paymentRecords: DUE.map((expectPayTime, index) => {
      const paymentStatus = started[index] ?? others;
      return {
        paymentOrderNo: paymentOrderNo(order, index + 1),
        cycleNo: index + 1,
        expectPayTime,
        paidAt: isPaid(paymentStatus) ? expectPayTime : null,
        amountCent: PRICE,
        refundAmountCent: 0,
        paymentStatus,
      };
    }),
  };
}

const linkOf = ({ orderNo, channelUserId }: Order, exp = LINK_ENDS, host = PUBLIC_URL): string =>
  redeemUrl({ host, orderNo, appId: DEMONSTRATION.appId, channelUserId, exp }, bytesOf(DEMONSTRATION.callbackSecret));

/** Returns an order's first period as payments/query returns it. */
export const firstPeriod = (order: Order, more: Readonly<Record<string, unknown>> = {}) => ({
  paymentOrderNo: paymentOrderNo(order, 1),
  orderNo: order.orderNo,
  externalOrderNo: order.externalOrderNo,
  cycleNo: 1,
  expectPayTime: STORY_TIME,
  paidAt: STORY_TIME,
  amountCent: PRICE,
  usedAmountCent: 0,
  refundTime: null,
  refundAmountCent: 0,
  paymentStatus: 'SUCCESS',
  claimRecords: [],
  ...more,
});

/** Returns `data` of order.status.changed after the first debit. */
export const orderPayload = (order: Order) => ({
  orderNo: order.orderNo,
  externalOrderNo: order.externalOrderNo,
  createTime: STORY_TIME,
  orderStatus: 'ACTIVE',
  orderSuccessTime: STORY_TIME,
  periodType: 'MONTH',
  period: 1,
  totalCycles: DUE.length,
  totalPaidAmountCent: PRICE,
  totalPaidCycles: 1,
  totalRefundAmountCent: 0,
  latestPaymentStatus: 'SUCCESS',
  nextPayTime: DUE[1],
});

/**
 * Returns `data` of payment.status.changed for the first period. `sharedMobile` is null if the agreement is not shared.
 */
export const paymentPayload = (order: Order, sharedMobile: string | null) => ({
  orderNo: order.orderNo,
  externalOrderNo: order.externalOrderNo,
  paymentOrderNo: paymentOrderNo(order, 1),
  channelUserId: order.channelUserId,
  cycleNo: 1,
  expectPayTime: STORY_TIME,
  paidAt: STORY_TIME,
  amountCent: PRICE,
  refundTime: null,
  refundAmountCent: 0,
  paymentStatus: 'SUCCESS',
  agreementShareFlag: sharedMobile !== null,
  mobileEncrypted: sharedMobile,
});

/** Returns `data` of payment.upcoming for the second period. */
export const upcomingPayload = (order: Order) => ({
  orderNo: order.orderNo,
  externalOrderNo: order.externalOrderNo,
  channelUserId: order.channelUserId,
  paymentOrderNo: paymentOrderNo(order, 2),
  cycleNo: 2,
  expectPayTime: DUE[1],
  amountCent: PRICE,
  settlementMode: 'SVC_DEDUCT',
  agreementShareFlag: false,
  redeemUrl: linkOf(order, LINK_OF_NOTICE_ENDS, SIGNED_HOST),
});
