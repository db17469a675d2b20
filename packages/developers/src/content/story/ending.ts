import { A1, type Example, STORY_TIME } from './cast.js';
import { firstPeriod, mainOrder, paymentOrderNo } from './orders-and-periods.js';

/** The examples that cancel an order, and refund a part of its payment. */
export const ENDING: readonly Example[] = [
  {
    endpoint: 'orders/unsubscribe',
    name: 'by-your-number',
    summary: 'The user cancels',
    request: { externalOrderNo: A1.externalOrderNo, reason: 'moved abroad' },
    answer: mainOrder(A1, {
      status: 'UNSUBSCRIBED',
      started: ['SUCCESS'],
      others: 'CANCELED',
      nextPayTime: null,
      more: { unsubscribeTime: STORY_TIME, redeemUrl: null },
    }),
  },
  {
    endpoint: 'sandbox/payments/refund',
    name: 'a-part',
    summary: 'A partial refund of the first period',
    request: { paymentOrderNo: paymentOrderNo(A1, 1), amountCent: 490, reason: 'goodwill' },
    answer: {
      ...firstPeriod(A1, { refundTime: STORY_TIME, refundAmountCent: 490, paymentStatus: 'REFUND_PART' }),
      refundStatus: 'SUCCESS',
      refundFailReason: null,
    },
  },
];
