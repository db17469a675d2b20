import { A1, ALICE, BINDING, cardFields, type Example, PAGE } from './cast.js';
import { firstPeriod, mainOrder, paymentOrderNo } from './orders-and-periods.js';

const ALICES_CARD = {
  bindOrderNo: BINDING.bindOrderNo,
  agreementNo: BINDING.agreementNo,
  ...cardFields(BINDING.card),
  agreementStatus: 'BIND_SUCCESS',
};

/** The examples that read orders, a period and bound cards. */
export const READING: readonly Example[] = [
  {
    endpoint: 'orders/query',
    name: 'by-your-number',
    summary: 'By your number',
    request: { externalOrderNo: A1.externalOrderNo },
    answer: mainOrder(A1, { started: ['SUCCESS'] }),
  },
  {
    endpoint: 'orders/query',
    name: 'by-our-number',
    summary: "By the service's number",
    request: { orderNo: A1.orderNo },
    answer: mainOrder(A1, { started: ['SUCCESS'] }),
  },
  {
    endpoint: 'orders/list',
    name: 'of-a-user',
    summary: 'Orders of one user',
    request: { channelUserId: ALICE, size: 20 },
    answer: { orders: [mainOrder(A1, { started: ['SUCCESS'] })], ...PAGE, size: 20 },
  },
  {
    endpoint: 'payments/query',
    name: 'first-period',
    summary: 'The first period',
    request: { paymentOrderNo: paymentOrderNo(A1, 1) },
    answer: firstPeriod(A1),
  },
  {
    endpoint: 'agreements/user-data',
    name: 'of-a-user',
    summary: 'Cards of one user',
    request: { channelUserId: ALICE },
    answer: {
      bankDataList: [ALICES_CARD],
      ...PAGE,
    },
  },
  {
    endpoint: 'agreements/user-data',
    name: 'of-a-card',
    summary: 'Agreements of one card',
    request: { bankCardNoEncrypted: BINDING.card, size: 10 },
    answer: {
      bankDataList: [ALICES_CARD],
      ...PAGE,
      size: 10,
    },
  },
];
