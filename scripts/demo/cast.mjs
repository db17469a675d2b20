// The operators, products and channels of the demo data. All are made up.

/** The operators and their roles. In addition there is an admin, who creates their accounts and the channels. */
export const PEOPLE = { ann: 'support', chen: 'finance', dora: 'finance' };

export const PAYMENT_CHANNELS = [
  { code: 'DEMO_WALLET', displayName: '云钱包 Cloud Wallet', supportedBanks: ['*'] },
  { code: 'DEMO_CARD', displayName: '银行卡代扣 Card debit', supportedBanks: ['ICBC', 'CCB', 'ABC', 'CMB'] },
];

const vip = { benefitCode: 'DEMO_VIP_DAYS', name: '会员时长', faceValueCent: 1500 };
const coupon = { benefitCode: 'DEMO_COUPON', name: 'Partner coupon 满减券', faceValueCent: 500 };
const coffee = { benefitCode: 'DEMO_COFFEE', name: 'Coffee voucher 咖啡兑换码', faceValueCent: 990 };
const ticket = { benefitCode: 'DEMO_TICKET', name: '电影通兑票', faceValueCent: 3990 };

const BOTH = ['SVC_DEDUCT', 'CHANNEL_COLLECT'];
const month = { settlementModes: BOTH, periodType: 'MONTH', period: 1 };
const day = { settlementModes: BOTH, periodType: 'DAY', period: 1 };

export const PRODUCTS = {
  monthly: {
    productCode: 'DEMO_VIDEO_MONTH',
    productName: '视频会员·连续包月',
    ...month,
    totalCycles: 12,
    amountCent: 1990,
    benefits: [vip, coupon],
  },
  yearly: {
    productCode: 'DEMO_VIDEO_YEAR',
    productName: '视频会员·连续包年',
    ...month,
    period: 12,
    totalCycles: 5,
    amountCent: 19_800,
    benefits: [vip, coffee, ticket],
  },
  weekly: {
    productCode: 'DEMO_MUSIC_WEEK',
    productName: 'Music Plus, weekly',
    ...day,
    period: 7,
    totalCycles: 12,
    amountCent: 690,
    benefits: [vip, coffee],
  },
  trial: {
    productCode: 'DEMO_FIT_7',
    productName: 'FitLife seven-day trial',
    ...day,
    totalCycles: 7,
    amountCent: 300,
    benefits: [vip],
  },
};

/** `receives` is the HTTP status with which the channel's receiver answers. Null: the channel has no callback URL. */
export const CHANNELS = [
  { appId: 'test_sunny_video', name: '向阳视频 Sunny Video', prefix: 'SV', receives: 200 },
  { appId: 'test_melody', name: 'Melody Music', prefix: 'MM', receives: 200 },
  { appId: 'test_fitlife', name: 'FitLife 健身', prefix: 'FL', receives: 500 },
  { appId: 'test_daily_read', name: '每日阅读', prefix: 'DR', receives: null },
];

export const NAMES = ['王伟', '李芳', '张敏', '刘洋', '陈静', '杨晓雨', '赵子涵', '黄建国'];
export const BANKS = ['ICBC', 'CCB', 'ABC', 'CMB'];
export const LEAVING_REASONS = ['不再需要', '价格太高', 'user asked in the app'];
export const REFUND_NOTES = ['用户误购，申请退款', 'goodwill: service was down on Sunday', '活动价差补退'];
export const ORDER_NOTES = ['用户来电询问扣款时间，已告知。', 'Called back twice, no answer.'];
