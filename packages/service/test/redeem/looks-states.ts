import { redeemUrl } from '@perennial/wire';
import { setFulfilment } from '../../src/operator/provisioning/benefits.js';
import { setBranding } from '../../src/operator/provisioning/branding.js';
import { setPresentation } from '../../src/operator/provisioning/presentations.js';
import { authorizeProduct, createProduct } from '../../src/operator/provisioning/products.js';
import { svg } from '../pictures/samples.js';
import type { RefundStage } from '../refunds/support.js';
import { mobileOf, unique } from '../support/demo.js';
import { at, claimAllsOf, claimsOf, fillPeriods, formOf, get, post } from './support.js';

/** A seller with all settings, and an order in every state that the page knows. */

export type Language = 'en-GB' | 'zh-CN';
/** URLs of pages, by what each shows. */
export type Shown = Readonly<Record<string, string>>;

const WORDS = {
  'en-GB': {
    seller: 'Sunny Shop',
    product: 'Sunny Plus',
    daily: 'Sunny daily',
    empty: 'Sunny cinema',
    film: 'Film pass',
    coffee: 'Two coffees',
    ticket: 'Cinema ticket',
  },
  'zh-CN': {
    seller: '阳光商店',
    product: '阳光会员月卡',
    daily: '阳光日卡',
    empty: '阳光影院',
    film: '影视会员月卡',
    coffee: '咖啡兑换券（两杯）',
    ticket: '电影票',
  },
} as const;

const LOGO = svg(
  `<circle cx="24" cy="24" r="10" fill="#f2a516"/><g stroke="#f2a516" stroke-width="4" stroke-linecap="round">
   <path d="M24 4v5M24 39v5M4 24h5M39 24h5M10 10l3.500 3.500M34.500 34.500l3.500 3.500M10 38l3.500-3.500M34.500 13.500l3.500-3.500"/></g>`,
  'viewBox="0 0 48 48"',
);
const FILM = svg(
  '<rect width="48" height="48" fill="#fff4dc"/><path d="M18 14l18 10-18 10z" fill="#b4470f"/>',
  'viewBox="0 0 48 48"',
);
const COFFEE = svg(
  `<rect width="48" height="48" fill="#f3e6dc"/><path d="M12 18h20v10a8 8 0 0 1-8 8h-4a8 8 0 0 1-8-8z" fill="#6b3d1e"/>
   <path d="M32 21h3a4 4 0 0 1 0 8h-3" fill="none" stroke="#6b3d1e" stroke-width="3"/>`,
  'viewBox="0 0 48 48"',
);

/** Creates the seller and the products of one language. A later call replaces them. */
export async function openShop(on: RefundStage, language: Language): Promise<void> {
  const words = WORDS[language];
  const { operator } = on.service;
  const { appId } = on.channel.credentials;
  await setBranding(operator, {
    appId,
    displayName: words.seller,
    logo: LOGO,
    accent: '#b4470f',
    support: '+86 400-000-0000',
    termsUrl: 'https://shop.example/terms',
    shopUrl: 'https://shop.example/',
  });
  const film = { benefitCode: codeOf('FILM', language), name: words.film, faceValueCent: 1500 };
  const coffee = { benefitCode: codeOf('COFFEE', language), name: words.coffee, faceValueCent: 490 };
  const ticket = { benefitCode: codeOf('TICKET', language), name: words.ticket, faceValueCent: 4500 };
  const month = { periodType: 'MONTH', period: 1, totalCycles: 12, amountCent: 1990 } as const;
  for (const product of [
    { ...month, productCode: codeOf('MONTH', language), productName: words.product, benefits: [film, coffee] },
    { ...month, productCode: codeOf('EMPTY', language), productName: words.empty, benefits: [film, ticket] },
    {
      ...{ periodType: 'DAY', period: 1, totalCycles: 9999, amountCent: 100 },
      ...{ productCode: codeOf('DAY', language), productName: words.daily, benefits: [film] },
    },
  ]) {
    await createProduct(operator, { ...product, settlementModes: ['SVC_DEDUCT'] });
    await authorizeProduct(operator, { appId, productCode: product.productCode });
  }
  await setFulfilment(operator, { benefitCode: ticket.benefitCode, kind: 'pool' });
  await setPresentation(operator, {
    ...{ benefitCode: film.benefitCode, icon: FILM, useUrl: 'https://films.example/use' },
    ...{ descriptionZh: '一个月内畅看全部影片', descriptionEn: 'All films and series, for a month' },
  });
  await setPresentation(operator, {
    ...{ benefitCode: coffee.benefitCode, icon: COFFEE },
    ...{ descriptionZh: '全国门店通用', descriptionEn: 'In every café of the city' },
  });
}

const codeOf = (what: string, language: Language): string => `${what}_${language === 'en-GB' ? 'EN' : 'ZH'}`;

interface Order {
  readonly orderNo: string;
  /** Path and query of the order's redemption link. */
  readonly path: string;
  readonly expired: string;
  readonly mobile: string;
}

async function order(on: RefundStage, language: Language, product = 'MONTH'): Promise<Order> {
  const channelUserId = unique('user');
  const orderNo = await on.paidOrder({ channelUserId, productCode: codeOf(product, language) });
  const { appId, callbackSecret } = on.channel.credentials;
  const now = Math.floor(on.service.clock.now() / 1000);
  const linkUntil = (exp: number) =>
    redeemUrl({ host: '', orderNo, appId, channelUserId, exp }, Buffer.from(callbackSecret, 'base64'));
  return { orderNo, path: linkUntil(now + 7 * 86_400), expired: linkUntil(now - 1), mobile: mobileOf(channelUserId) };
}

async function advance(on: RefundStage, { orderNo }: Order, how: object): Promise<void> {
  const { code, text } = await on.channel.call('sandbox/orders/advance', { orderNo, ...how });
  if (code !== '0') throw new Error(`sandbox/orders/advance answered ${text}`);
}

/** Presses a button of the page. Returns the URL that it leads to. */
async function claim({ service }: RefundStage, path: string, what: 'claim' | 'period'): Promise<string> {
  const page = await get(service.baseUrl, path);
  const [value] = (what === 'claim' ? claimsOf(page) : claimAllsOf(page)).values();
  if (value === undefined) throw new Error(`the page has no button to ${what}`);
  const action = what === 'claim' ? '/redeem/claim' : '/redeem/claim-all';
  const { headers, text } = await post(service.baseUrl, action, { ...formOf(page), [what]: value });
  if (headers.location === undefined) throw new Error(`${action} answered ${text}`);
  return headers.location.replace(/#.*/, '');
}

type MakeState = (on: RefundStage, language: Language) => Promise<Shown>;

const STATES: readonly MakeState[] = [
  async (on, language) => {
    const { path, expired } = await order(on, language);
    const question = at(path, 'unsubscribe');
    const code = `${question}&by=code`;
    return { fresh: path, 'the question': question, 'the code': code, expired, tampered: `${path}x` };
  },
  async (on, language) => {
    const { path } = await order(on, language);
    const claimed = await claim(on, path, 'claim');
    const onList = await claim(on, at(path, 'benefits'), 'claim');
    return { claimed, 'claimed on a list': onList };
  },
  async (on, language) => ({ 'pool empty': await claim(on, (await order(on, language, 'EMPTY')).path, 'period') }),
  async (on, language) => {
    const refunded = await order(on, language);
    await advance(on, refunded, { cycles: 3 });
    await claim(on, refunded.path, 'period');
    await advance(on, refunded, { outcomes: ['FAIL'], cycles: 1 });
    await on.refund({ orderNo: refunded.orderNo, cycleNo: 3 });
    await on.refund({ orderNo: refunded.orderNo, cycleNo: 4, amountCent: 800 });
    return { refunded: refunded.path, 'all payments': at(refunded.path, 'payments') };
  },
  async (on, language) => {
    const ended = await order(on, language);
    await advance(on, ended, { cycles: 1 });
    await on.channel.call('orders/unsubscribe', { orderNo: ended.orderNo });
    return { ended: ended.path, 'the confirmation': at(ended.path, 'ended') };
  },
  async (on, language) => {
    const locked = await order(on, language);
    const path = at(locked.path, 'unsubscribe');
    const digits = locked.mobile.endsWith('0000') ? '1111' : '0000';
    const { baseUrl } = on.service;
    const fields = formOf(await get(baseUrl, path));
    for (let tries = 5; tries > 0; tries -= 1) await post(baseUrl, '/redeem/unsubscribe', { ...fields, digits });
    return { locked: path };
  },
  async (on, language) => {
    const failed = await order(on, language);
    await advance(on, failed, { outcomes: ['FAIL_RETRY'], to: '2026-02-28 12:00:00' });
    await on.service.fresh.database.query(`update failed_payments set reason = 'insufficient funds'`);
    return { 'failed and retried': failed.path };
  },
  async (on, language) => {
    const ended = await order(on, language);
    const page = await get(on.service.baseUrl, ended.path);
    const [period = ''] = claimAllsOf(page).values();
    await post(on.service.baseUrl, '/redeem/claim-all', { ...formOf(page), period });
    await on.channel.call('orders/unsubscribe', { orderNo: ended.orderNo });
    return { 'ended, all claimed': ended.path };
  },
  async (on, language) => {
    const months = await order(on, language);
    await advance(on, months, { cycles: 3 });
    const page = await get(on.service.baseUrl, months.path);
    const [, everything = ''] = /name="period" value="(all)"/.exec(page.text) ?? [];
    const answer = await post(on.service.baseUrl, '/redeem/claim-all', { ...formOf(page), period: everything });
    return { 'everything claimed': (answer.headers.location ?? '').replace(/#.*/, '') };
  },
];

/** States of large orders, and states whose page differs in only a few words from the page of an earlier state. */
const FURTHER: readonly MakeState[] = [
  async (on, language) => {
    const failed = await order(on, language);
    await advance(on, failed, { outcomes: ['FAIL'], cycles: 1 });
    return { 'failed for good': failed.path };
  },
  async (on, language) => {
    const completed = await order(on, language);
    await advance(on, completed, { cycles: 11 });
    return { 'completed with 24 benefits': completed.path, 'all 24 to claim': at(completed.path, 'benefits') };
  },
  async (on, language) => {
    const { path, orderNo } = await order(on, language, 'DAY');
    await fillPeriods(on.service.fresh, orderNo);
    const lists = ['codes', 'past', 'payments'].map((list) => [`9,999 periods, ${list}`, at(path, list)]);
    return { '9,999 periods': path, ...Object.fromEntries(lists) };
  },
];

export async function makeStates(on: RefundStage, language: Language, isLong: boolean): Promise<Shown> {
  let all: Shown = {};
  for (const make of isLong ? [...STATES, ...FURTHER] : STATES) all = { ...all, ...(await make(on, language)) };
  return all;
}
