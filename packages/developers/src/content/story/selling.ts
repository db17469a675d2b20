import { A1, A2, ALICE, B, BINDING, BORIS, CHEN, cardFields, type Example, SHARED, sharedAgreement } from './cast.js';
import { mainOrder } from './orders-and-periods.js';

/** The examples that bind a card, and create an order in each of the three ways. */
export const SELLING: readonly Example[] = [
  {
    endpoint: 'agreements/bind-sms',
    name: 'first-code',
    summary: 'The first code for a card',
    request: { channelUserId: ALICE, mobileEncrypted: '13900000001', ...cardFields(BINDING.card) },
    answer: {
      bindOrderNo: BINDING.bindOrderNo,
      paymentChannelCode: 'MOCKPAY',
      agreementStatus: 'BIND_ING',
      smsStatus: 'SEND_SUCCESS',
    },
  },
  {
    endpoint: 'agreements/bind-confirm',
    name: 'right-code',
    summary: 'The code that the user typed',
    request: { bindOrderNo: BINDING.bindOrderNo, smsCodeEncrypted: '123456' },
    answer: { agreementNo: BINDING.agreementNo, agreementStatus: 'BIND_SUCCESS', bankCardTailNo: '4567' },
  },
  {
    endpoint: 'orders/create',
    name: 'a1',
    summary: 'A.1: debited from a bound card',
    request: {
      settlementMode: 'SVC_DEDUCT',
      externalOrderNo: A1.externalOrderNo,
      productCode: 'TEST_SPU_001',
      bindOrderNo: BINDING.bindOrderNo,
    },
    answer: mainOrder(A1, { started: ['SUCCESS'] }),
  },
  {
    endpoint: 'orders/create',
    name: 'a2',
    summary: 'A.2: debited on your shared agreement',
    request: {
      settlementMode: 'SVC_DEDUCT',
      externalOrderNo: A2.externalOrderNo,
      productCode: 'TEST_SPU_001',
      channelUserId: BORIS,
      mobileEncrypted: '13900000002',
      sharedAgreement: sharedAgreement(SHARED),
    },
    answer: mainOrder(A2, { started: ['SUCCESS'] }),
  },
  {
    endpoint: 'orders/create',
    name: 'b',
    summary: 'B: billed to you',
    request: {
      settlementMode: 'CHANNEL_COLLECT',
      externalOrderNo: B.externalOrderNo,
      productCode: 'TEST_SPU_001',
      channelUserId: CHEN,
      mobileEncrypted: '13900000003',
      channelAgreementRef: 'contract 42',
    },
    answer: mainOrder(B, { started: ['BILLED'] }),
  },
];
