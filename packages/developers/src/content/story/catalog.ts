import { type Example, PAGE } from './cast.js';

/** The examples that get a token, and list products and payment channels. */
export const CATALOG: readonly Example[] = [
  {
    endpoint: 'auth/token',
    name: 'token',
    summary: 'A token, valid for two hours',
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
    summary: 'All authorized products',
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
        {
          productCode: 'TEST_SPU_ONCE',
          productName: 'One month',
          settlementModes: ['SVC_DEDUCT', 'CHANNEL_COLLECT'],
          periodType: 'MONTH',
          period: 1,
          totalCycles: 1,
          amountCent: 2490,
          benefits: [{ benefitCode: 'MONTH_PASS', name: 'Month pass', faceValueCent: 2490 }],
        },
      ],
      ...PAGE,
    },
  },
  {
    endpoint: 'payment-channels/list',
    name: 'all',
    summary: 'All authorized payment channels',
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
];
