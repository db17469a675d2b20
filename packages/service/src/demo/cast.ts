import type { Role } from '../operator/people/roles.js';
import type { CreateProductInput } from '../operator/provisioning/products.js';

/** Who and what the story is about. None of it exists. */

export interface StoryPerson {
  readonly name: string;
  readonly role: Role;
}

/** They have no password and no link to set one: nobody can sign in as one of them. */
export const PEOPLE = {
  ann: { name: 'ann', role: 'support' },
  bo: { name: 'bo', role: 'support' },
  chen: { name: 'chen', role: 'finance' },
  dora: { name: 'dora', role: 'finance' },
  eli: { name: 'eli', role: 'admin' },
  fay: { name: 'fay', role: 'viewer' },
} as const satisfies Record<string, StoryPerson>;

export type PersonName = keyof typeof PEOPLE;

/** How the receiver of a channel behaves. */
export type ReceiverManner = 'prompt' | 'away-for-hours' | 'refuses-lately' | 'has-no-address';

export interface StoryChannel {
  readonly appId: string;
  readonly name: string;
  /** Before the channel's own order numbers. */
  readonly prefix: string;
  readonly address: string;
  readonly receiver: ReceiverManner;
  /** How many of ten orders are its. */
  readonly share: number;
  readonly products: readonly ProductName[];
}

export const BENEFITS = {
  vip: { benefitCode: 'DEMO_VIP_DAYS', name: '会员时长', faceValueCent: 1500, kind: 'generated' },
  coupon: { benefitCode: 'DEMO_COUPON', name: 'Partner coupon 满减券', faceValueCent: 500, kind: 'generated' },
  coffee: { benefitCode: 'DEMO_COFFEE', name: 'Coffee voucher 咖啡兑换码', faceValueCent: 990, kind: 'pool' },
  ticket: { benefitCode: 'DEMO_TICKET', name: '电影通兑票', faceValueCent: 3990, kind: 'supplier' },
} as const;

const { vip, coupon, coffee, ticket } = BENEFITS;
const HOUR = 3600;
const DAY = 24 * HOUR;
const BOTH = ['SVC_DEDUCT', 'CHANNEL_COLLECT'];
const DEDUCTED = ['SVC_DEDUCT'];

/** `productCode` gets a number behind it when the story is told again. */
export const PRODUCTS = {
  monthly: {
    productCode: 'DEMO_VIDEO_MONTH',
    productName: '视频会员·连续包月',
    settlementModes: BOTH,
    periodType: 'MONTH',
    period: 1,
    totalCycles: 12,
    amountCent: 1990,
    benefits: [vip, coupon],
  },
  yearly: {
    productCode: 'DEMO_VIDEO_YEAR',
    productName: '视频会员·连续包年',
    settlementModes: DEDUCTED,
    periodType: 'MONTH',
    period: 12,
    totalCycles: 5,
    amountCent: 19_800,
    benefits: [vip, coffee, ticket],
  },
  weekly: {
    productCode: 'DEMO_MUSIC_WEEK',
    productName: 'Music Plus, weekly',
    settlementModes: BOTH,
    periodType: 'DAY',
    period: 7,
    totalCycles: 12,
    amountCent: 690,
    benefits: [vip, coffee],
    retryDelays: [6 * HOUR, DAY, 2 * DAY],
  },
  daily: {
    productCode: 'DEMO_READ_DAY',
    productName: '阅读日卡·自动续费',
    settlementModes: BOTH,
    periodType: 'DAY',
    period: 1,
    totalCycles: 30,
    amountCent: 100,
    benefits: [coupon],
  },
  trial: {
    productCode: 'DEMO_FIT_7',
    productName: 'FitLife seven-day trial',
    settlementModes: DEDUCTED,
    periodType: 'DAY',
    period: 1,
    totalCycles: 7,
    amountCent: 300,
    benefits: [vip],
  },
  single: {
    productCode: 'DEMO_MUSIC_ONCE',
    productName: '畅听月卡（单次）',
    settlementModes: BOTH,
    periodType: 'MONTH',
    period: 1,
    totalCycles: 1,
    amountCent: 1290,
    benefits: [vip, ticket],
  },
} as const satisfies Record<string, CreateProductInput>;

export type ProductName = keyof typeof PRODUCTS;

export const CHANNELS: readonly StoryChannel[] = [
  {
    appId: 'test_sunny_video',
    name: '向阳视频 Sunny Video',
    prefix: 'SV',
    address: 'https://pay.sunny-video.example/perennial/events',
    receiver: 'prompt',
    share: 4,
    products: ['monthly', 'yearly', 'weekly', 'daily', 'trial', 'single'],
  },
  {
    appId: 'test_melody',
    name: 'Melody Music',
    prefix: 'MM',
    address: 'https://hooks.melody-music.example/subscriptions',
    receiver: 'away-for-hours',
    share: 3,
    products: ['weekly', 'single', 'monthly', 'daily', 'trial', 'yearly'],
  },
  {
    appId: 'test_fitlife',
    name: 'FitLife 健身',
    prefix: 'FL',
    address: 'https://api.fitlife.example/v2/callbacks/perennial',
    receiver: 'refuses-lately',
    share: 2,
    products: ['trial', 'daily', 'monthly', 'weekly', 'single', 'yearly'],
  },
  {
    appId: 'test_daily_read',
    name: '每日阅读',
    prefix: 'DR',
    address: 'https://open.daily-read.example/events',
    receiver: 'has-no-address',
    share: 1,
    products: ['daily', 'monthly', 'weekly', 'single', 'trial', 'yearly'],
  },
];

/** The first is the default of every channel, and the one by which agreements are shared. */
export const PAYMENT_CHANNELS = [
  { code: 'DEMO_WALLET', displayName: '云钱包 Cloud Wallet', supportedBanks: ['*'] },
  { code: 'DEMO_CARD', displayName: '银行卡代扣 Card debit', supportedBanks: ['ICBC', 'CCB', 'ABC', 'CMB'] },
] as const;

export const BANKS = ['ICBC', 'CCB', 'ABC', 'CMB'] as const;

const FAMILY_NAMES = [...'王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗'];
const GIVEN_NAMES = [
  '伟',
  '芳',
  '娜',
  '敏',
  '静',
  '丽',
  '强',
  '磊',
  '洋',
  '艳',
  '勇',
  '杰',
  '娟',
  '涛',
  '明',
  '超',
  '秀英',
  '建国',
  '晓雨',
  '子涵',
];
export const REAL_NAMES = FAMILY_NAMES.flatMap((family) => GIVEN_NAMES.map((given) => `${family}${given}`));

/** Why an institution declines for now, the likeliest first and more than once. */
export const RETRYABLE_REASONS = [
  '账户余额不足',
  '账户余额不足',
  '账户余额不足',
  'insufficient funds',
  '超出当日交易限额',
  '银行系统维护中，请稍后再试',
  'issuer timed out',
];
export const FINAL_REASONS = ['银行卡已挂失', '账户已冻结', 'card expired', '超出单笔交易限额', 'do not honor'];
export const ENDED_REASONS = ['代扣协议已由持卡人在银行解除', 'the agreement was revoked by the cardholder'];
export const REFUND_REFUSALS = ['原交易已超过退款期限', 'the account is closed'];

export const LEAVING_REASONS = [
  '不再需要',
  '价格太高',
  'user asked in the app',
  '换用其他套餐',
  'duplicate subscription',
];
export const OPERATOR_LEAVING_REASONS = [
  'user phoned: charged after having cancelled in the app',
  '用户来电要求退订，已核实手机尾号',
  'minor used the card of a parent',
];
export const REFUND_NOTES = [
  'goodwill: service was down on Sunday',
  '用户误购，申请退款',
  'charged twice at the partner, one returned',
  '活动价差补退',
];
export const ORDER_NOTES = [
  '用户来电询问扣款时间，已告知。',
  'Asked for an invoice; sent to the partner.',
  'Card was replaced by the bank. User will bind the new one this week.',
  '疑似重复下单，已与渠道确认为两次购买。',
  'Called back twice, no answer.',
  'VIP customer of the partner: handle with care.',
  '余额不足，用户表示周五发工资后再试。',
];
export const ALERT_COMMENTS = [
  'Looked at it: the partner knows, fix is on its way.',
  '已联系机构，等待回复。',
  'Second time this month. Will raise it in the weekly meeting.',
  'Codes are ordered, import tomorrow morning.',
];
export const DIFFERENCE_NOTES = [
  'the institution confirmed by e-mail that the line was missing',
  '次日对账文件已补录',
  'a manual booking of the institution, reversed the same day',
];
