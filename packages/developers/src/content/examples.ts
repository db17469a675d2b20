import type { EndpointName, EventType, PaymentStatus } from '@perennial/wire';

/**
 * A story in the order in which it is told: each call uses what the ones before have answered. Tests send all of it to a running
 * service. Fields that end in Encrypted hold the text that is encrypted.
 */
export interface Example {
  readonly endpoint: EndpointName;
  /** Unique within the endpoint. */
  readonly name: string;
  readonly summary: string;
  readonly request: Readonly<Record<string, unknown>>;
  /** `data` of the answer. */
  readonly answer: Readonly<Record<string, unknown>>;
}

/** Stands for the address of the installation, which is put in when a page is served. */
export const PUBLIC_URL = '__PUBLIC_URL__';

/** When all of it happens. */
export const STORY_TIME = '2026-01-15 12:00:00';
const DUE = Array.from({ length: 12 }, (_, month) => `2026-${String(month + 1).padStart(2, '0')}-15 12:00:00`);

/** Five days before the second period. */
const NOTICE_TIME = '2026-02-10 12:00:00';

const ALICE = 'user-alice';
const BORIS = 'user-boris';
const CHEN = 'user-chen';

const A1 = { orderNo: '100000001000', externalOrderNo: 'own-1001', channelUserId: ALICE };
const A2 = { orderNo: '100000001001', externalOrderNo: 'own-1002', channelUserId: BORIS };
const B = { orderNo: '100000001002', externalOrderNo: 'own-1003', channelUserId: CHEN };
type Order = typeof A1;

interface Progress {
  readonly status?: string;
  /** Of the periods that were started, the first to the last. */
  readonly started: readonly PaymentStatus[];
  readonly nextPayTime?: string | null;
  readonly others?: PaymentStatus;
  readonly more?: Readonly<Record<string, unknown>>;
}

const isPaid = (status: PaymentStatus): boolean => status === 'SUCCESS' || status === 'BILLED';

const paymentOrderNo = ({ orderNo }: Order, cycleNo: number): string => `${orderNo}${String(cycleNo).padStart(4, '0')}`;

/** A monthly order of TEST_SPU_001, whose price is 1990. */
function mainOrder(order: Order, { status = 'ACTIVE', started, nextPayTime, others = 'WAIT', more }: Progress) {
  return {
    orderNo: order.orderNo,
    externalOrderNo: order.externalOrderNo,
    createTime: STORY_TIME,
    orderStatus: status,
    orderSuccessTime: STORY_TIME,
    periodType: 'MONTH',
    period: 1,
    totalCycles: DUE.length,
    totalPaidAmountCent: 1990 * started.filter(isPaid).length,
    totalRefundAmountCent: 0,
    nextPayTime: nextPayTime === undefined ? DUE[started.length] : nextPayTime,
    unsubscribeTime: null,
    redeemUrl: redeemUrl(order),
    ...more,
    paymentRecords: DUE.map((expectPayTime, index) => {
      const paymentStatus = started[index] ?? others;
      return {
        paymentOrderNo: paymentOrderNo(order, index + 1),
        cycleNo: index + 1,
        expectPayTime,
        paidAt: isPaid(paymentStatus) ? expectPayTime : null,
        amountCent: 1990,
        refundAmountCent: 0,
        paymentStatus,
      };
    }),
  };
}

const redeemUrl = ({ orderNo, channelUserId }: Order): string =>
  `${PUBLIC_URL}/redeem?orderNo=${orderNo}&appId=test_demo&channelUserId=${channelUserId}&exp=1769054400&sig=HnhzOs6jaqdDblkWzytBKC1WuhroyhF0g2XR2A-M9oI`;

const PAGE = { page: 1, size: 100, hasMore: false, nextCursor: null };

const card = (bankCardNo: string) => ({
  bankCardNoEncrypted: bankCardNo,
  certificateNoEncrypted: '110101199001011234',
  realNameEncrypted: '张三',
  bankMobileEncrypted: '13800000001',
});

const sharedAgreement = (sharedAgreementNo: string, bankCardNo: string) => ({
  paymentChannelCode: 'MOCKPAY',
  sharedAgreementNo,
  ...card(bankCardNo),
  channelUserId: BORIS,
});

export const EXAMPLES: readonly Example[] = [
  {
    endpoint: 'auth/token',
    name: 'token',
    summary: 'A token for two hours',
    request: { grantType: 'client_credentials', appId: 'test_demo' },
    answer: {
      accessToken: 'AAAB7qZp3vX0m2c1uYw8rT5kQnE4sLhJ',
      expiresIn: '7200',
      expiresAt: '2026-01-15 14:00:00',
    },
  },
  {
    endpoint: 'products/list',
    name: 'all',
    summary: 'Everything that may be sold',
    request: {},
    answer: {
      items: [
        {
          productCode: 'TEST_SPU_001',
          productName: 'Monthly membership',
          settlementModes: ['SVC_DEDUCT', 'CHANNEL_COLLECT'],
          periodType: 'MONTH',
          period: 1,
          totalCycles: 12,
          amountCent: 1990,
          benefits: [
            { benefitCode: 'VIP_PASS', name: 'VIP pass', faceValueCent: 1500 },
            { benefitCode: 'COUPON', name: 'Coupon', faceValueCent: 490 },
          ],
        },
        {
          productCode: 'TEST_SPU_DAILY_7',
          productName: 'Seven days',
          settlementModes: ['SVC_DEDUCT', 'CHANNEL_COLLECT'],
          periodType: 'DAY',
          period: 1,
          totalCycles: 7,
          amountCent: 100,
          benefits: [{ benefitCode: 'DAY_PASS', name: 'Day pass', faceValueCent: 100 }],
        },
      ],
      ...PAGE,
    },
  },
  {
    endpoint: 'payment-channels/list',
    name: 'all',
    summary: 'Every way to an institution',
    request: { size: 10 },
    answer: {
      items: [
        {
          code: 'MOCKBANK',
          displayName: 'Mock Bank',
          isDefault: false,
          shareEnabled: false,
          supportedBanks: ['ICBC', 'CCB'],
        },
        {
          code: 'MOCKPAY',
          displayName: 'Mock Pay',
          isDefault: true,
          shareEnabled: true,
          supportedBanks: ['*'],
        },
      ],
      ...PAGE,
      size: 10,
    },
  },
  {
    endpoint: 'agreements/bind-sms',
    name: 'first-code',
    summary: 'The first code for a card',
    request: { channelUserId: ALICE, mobileEncrypted: '13900000001', ...card('6222020000001234567') },
    answer: {
      bindOrderNo: '200000000001',
      paymentChannelCode: 'MOCKPAY',
      agreementStatus: 'BIND_ING',
      smsStatus: 'SEND_SUCCESS',
    },
  },
  {
    endpoint: 'agreements/bind-confirm',
    name: 'right-code',
    summary: 'The code that the user has typed',
    request: { bindOrderNo: '200000000001', smsCodeEncrypted: '123456' },
    answer: { agreementNo: 'AG200000000001', agreementStatus: 'BIND_SUCCESS', bankCardTailNo: '4567' },
  },
  {
    endpoint: 'orders/create',
    name: 'a1',
    summary: 'A.1: debited from the card that was bound',
    request: {
      settlementMode: 'SVC_DEDUCT',
      externalOrderNo: A1.externalOrderNo,
      productCode: 'TEST_SPU_001',
      bindOrderNo: '200000000001',
    },
    answer: mainOrder(A1, { started: ['SUCCESS'] }),
  },
  {
    endpoint: 'orders/create',
    name: 'a2',
    summary: 'A.2: debited on an agreement of yours',
    request: {
      settlementMode: 'SVC_DEDUCT',
      externalOrderNo: A2.externalOrderNo,
      productCode: 'TEST_SPU_001',
      channelUserId: BORIS,
      mobileEncrypted: '13900000002',
      sharedAgreement: sharedAgreement('SA-70021', '6222020000007654321'),
    },
    answer: mainOrder(A2, { started: ['SUCCESS'] }),
  },
  {
    endpoint: 'orders/create',
    name: 'b',
    summary: 'B: billed to you, who collect',
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
    summary: 'What one user has',
    request: { channelUserId: ALICE, size: 20 },
    answer: { orders: [mainOrder(A1, { started: ['SUCCESS'] })], ...PAGE, size: 20 },
  },
  {
    endpoint: 'payments/query',
    name: 'first-period',
    summary: 'The first period',
    request: { paymentOrderNo: paymentOrderNo(A1, 1) },
    answer: {
      paymentOrderNo: paymentOrderNo(A1, 1),
      orderNo: A1.orderNo,
      externalOrderNo: A1.externalOrderNo,
      cycleNo: 1,
      expectPayTime: STORY_TIME,
      paidAt: STORY_TIME,
      amountCent: 1990,
      usedAmountCent: 0,
      refundTime: null,
      refundAmountCent: 0,
      paymentStatus: 'SUCCESS',
      claimRecords: [],
    },
  },
  {
    endpoint: 'agreements/user-data',
    name: 'of-a-user',
    summary: 'The cards of one user',
    request: { channelUserId: ALICE },
    answer: {
      bankDataList: [
        {
          bindOrderNo: '200000000001',
          agreementNo: 'AG200000000001',
          ...card('6222020000001234567'),
          agreementStatus: 'BIND_SUCCESS',
        },
      ],
      ...PAGE,
    },
  },
  {
    endpoint: 'agreements/user-data',
    name: 'of-a-card',
    summary: 'Who has bound a card',
    request: { bankCardNoEncrypted: '6222020000001234567', size: 10 },
    answer: {
      bankDataList: [
        {
          bindOrderNo: '200000000001',
          agreementNo: 'AG200000000001',
          ...card('6222020000001234567'),
          agreementStatus: 'BIND_SUCCESS',
        },
      ],
      ...PAGE,
      size: 10,
    },
  },
  {
    endpoint: 'sandbox/orders/advance',
    name: 'a-failed-debit',
    summary: 'A debit that fails and is tried again',
    request: { externalOrderNo: A2.externalOrderNo, cycles: 1, outcomes: ['FAIL_RETRY'] },
    answer: mainOrder(A2, { started: ['SUCCESS', 'FAIL_RETRY'], nextPayTime: '2026-02-16 12:00:00' }),
  },
  {
    endpoint: 'agreements/replace',
    name: 'a-new-card',
    summary: 'A new card, debited at once',
    request: {
      externalOrderNo: A2.externalOrderNo,
      newSharedAgreement: sharedAgreement('SA-70022', '6222020000008888888'),
    },
    answer: {
      orderNo: A2.orderNo,
      oldAgreementNo: 'SA-70021',
      newAgreementNo: 'SA-70022',
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
  {
    endpoint: 'events/list',
    name: 'of-an-order',
    summary: 'What was told of one order',
    request: { externalOrderNo: A1.externalOrderNo, eventType: 'order.status.changed', size: 10 },
    answer: {
      events: [
        {
          eventId: '2',
          lastEventId: null,
          eventType: 'order.status.changed',
          orderNo: A1.orderNo,
          occurredAt: STORY_TIME,
          deliveryStatus: 'PENDING',
          pushes: 0,
          lastPushTime: null,
          data: {
            orderNo: A1.orderNo,
            externalOrderNo: A1.externalOrderNo,
            createTime: STORY_TIME,
            orderStatus: 'ACTIVE',
            orderSuccessTime: STORY_TIME,
            periodType: 'MONTH',
            period: 1,
            totalCycles: 12,
            totalPaidAmountCent: 1990,
            totalPaidCycles: 1,
            totalRefundAmountCent: 0,
            latestPaymentStatus: 'SUCCESS',
            nextPayTime: DUE[1],
          },
        },
      ],
      ...PAGE,
      size: 10,
    },
  },
  {
    endpoint: 'events/replay',
    name: 'by-ids',
    summary: 'One event, by its id',
    request: { eventIds: ['2'] },
    answer: { replayed: 1 },
  },
  {
    endpoint: 'events/replay',
    name: 'by-time',
    summary: 'All that was not delivered since a time',
    request: { from: '2026-01-01 00:00:00' },
    answer: { replayed: 0 },
  },
  {
    endpoint: 'sandbox/events/pull',
    name: 'first',
    summary: 'The first event, signed for your receiver',
    request: { path: '/events', size: 1 },
    answer: {
      pushes: [
        {
          eventId: '1',
          eventType: 'payment.status.changed',
          occurredAt: STORY_TIME,
          writtenAt: STORY_TIME,
          headers: {
            'Content-Type': 'application/json',
            'X-SVC-App-Id': 'test_demo',
            'X-SVC-Timestamp': '1768449600000',
            'X-SVC-Nonce': 'ffeeddccbbaa99887766554433221100',
            'X-SVC-Event-Id': '1',
            'X-SVC-Signature': 'R4EMQB4GY7GEREeoYk9rFJxUAclqyS1yl92M+NFRByI=',
          },
          body: '{"eventId":"1","eventType":"payment.status.changed",…}',
        },
      ],
      readAt: STORY_TIME,
      nextCursor: 'WyJzYW5kYm94L2V2ZW50cy9wdWxsIl0',
    },
  },
  {
    endpoint: 'orders/unsubscribe',
    name: 'by-your-number',
    summary: 'The user has changed her mind',
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
    summary: 'A part of the first period',
    request: { paymentOrderNo: paymentOrderNo(A1, 1), amountCent: 490, reason: 'goodwill' },
    answer: {
      paymentOrderNo: paymentOrderNo(A1, 1),
      orderNo: A1.orderNo,
      externalOrderNo: A1.externalOrderNo,
      cycleNo: 1,
      expectPayTime: STORY_TIME,
      paidAt: STORY_TIME,
      amountCent: 1990,
      usedAmountCent: 0,
      refundTime: STORY_TIME,
      refundAmountCent: 490,
      paymentStatus: 'REFUND_PART',
      claimRecords: [],
    },
  },
];

export interface EventExample {
  readonly eventType: EventType;
  readonly body: Readonly<Record<string, unknown>>;
}

/** What a receiver is sent in the story above. */
export const EVENT_EXAMPLES: readonly EventExample[] = [
  {
    eventType: 'order.status.changed',
    body: {
      eventId: '2',
      eventType: 'order.status.changed',
      occurredAt: STORY_TIME,
      retryNo: 0,
      data: {
        orderNo: A1.orderNo,
        externalOrderNo: A1.externalOrderNo,
        createTime: STORY_TIME,
        orderStatus: 'ACTIVE',
        orderSuccessTime: STORY_TIME,
        periodType: 'MONTH',
        period: 1,
        totalCycles: 12,
        totalPaidAmountCent: 1990,
        totalPaidCycles: 1,
        totalRefundAmountCent: 0,
        latestPaymentStatus: 'SUCCESS',
        nextPayTime: DUE[1],
      },
    },
  },
  {
    eventType: 'payment.status.changed',
    body: {
      eventId: '3',
      eventType: 'payment.status.changed',
      occurredAt: STORY_TIME,
      retryNo: 0,
      data: {
        orderNo: A2.orderNo,
        externalOrderNo: A2.externalOrderNo,
        paymentOrderNo: paymentOrderNo(A2, 1),
        channelUserId: BORIS,
        cycleNo: 1,
        expectPayTime: STORY_TIME,
        paidAt: STORY_TIME,
        amountCent: 1990,
        refundTime: null,
        refundAmountCent: 0,
        paymentStatus: 'SUCCESS',
        agreementShareFlag: true,
        mobileEncrypted: '13900000002',
      },
    },
  },
  {
    eventType: 'payment.upcoming',
    body: {
      eventId: '8',
      eventType: 'payment.upcoming',
      occurredAt: NOTICE_TIME,
      retryNo: 0,
      data: {
        orderNo: A1.orderNo,
        externalOrderNo: A1.externalOrderNo,
        channelUserId: ALICE,
        paymentOrderNo: paymentOrderNo(A1, 2),
        cycleNo: 2,
        expectPayTime: DUE[1],
        amountCent: 1990,
        settlementMode: 'SVC_DEDUCT',
        agreementShareFlag: false,
        redeemUrl: redeemUrl(A1),
      },
    },
  },
];
