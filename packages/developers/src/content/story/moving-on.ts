import { A2, B, DUE, type Example, RENEWED, SHARED, sharedAgreement } from './cast.js';
import { mainOrder, paymentOrderNo } from './orders-and-periods.js';

/** The examples that advance time: a debit fails, the card is replaced, a month is billed. */
export const MOVING_ON: readonly Example[] = [
  {
    endpoint: 'sandbox/orders/advance',
    name: 'a-failed-debit',
    summary: 'A debit that fails and is retried',
    request: { externalOrderNo: A2.externalOrderNo, cycles: 1, outcomes: ['FAIL_RETRY'] },
    answer: mainOrder(A2, { started: ['SUCCESS', 'FAIL_RETRY'], nextPayTime: '2026-02-16 12:00:00' }),
  },
  {
    endpoint: 'agreements/replace',
    name: 'a-new-card',
    summary: 'A new card, debited immediately',
    request: {
      externalOrderNo: A2.externalOrderNo,
      newSharedAgreement: sharedAgreement(RENEWED),
    },
    answer: {
      orderNo: A2.orderNo,
      oldAgreementNo: SHARED.agreementNo,
      newAgreementNo: RENEWED.agreementNo,
      paymentChannelCode: 'MOCKPAY',
      affectedPayments: DUE.slice(1).map((_, index) => ({
        paymentOrderNo: paymentOrderNo(A2, index + 2),
        cycleNo: index + 2,
        previousStatus: index === 0 ? 'FAIL_RETRY' : 'WAIT',
      })),
      retriedNow: [{ paymentOrderNo: paymentOrderNo(A2, 2), cycleNo: 2, newStatus: 'PROCESSING' }],
    },
  },
  {
    endpoint: 'sandbox/orders/advance',
    name: 'a-month',
    summary: 'The next month',
    request: { orderNo: B.orderNo, cycles: 1 },
    answer: mainOrder(B, { started: ['BILLED', 'BILLED'] }),
  },
];
