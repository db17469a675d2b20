import { type RedeemSignParts, redeemUrl } from '@perennial/wire';
import { authorizeProduct, createProduct } from '../../src/operator/provisioning/products.js';
import type { ServiceDeps } from '../../src/service.js';
import { type ChannelCredentials, type Reply, send } from '../support/channel-client.js';
import type { FreshDatabase } from '../support/database.js';
import { collectRequest, demoChannel } from '../support/demo.js';
import { testService } from '../support/service.js';

export interface Ordered {
  readonly orderNo: string;
  readonly channelUserId: string;
  readonly externalOrderNo: string;
  /** Path and query of the order's redemption link. */
  readonly path: string;
}

export type Form = Readonly<Record<string, string>>;

const HOST = 'https://pay.example';

/** Starts a service, and requests its redemption page as a browser does, but without a browser. */
export async function stage(more: Partial<ServiceDeps> = {}) {
  const service = await testService({ redeemOpensPerMinute: 100_000, ...more });
  const channel = await demoChannel(service);
  const query = <Row>(text: string, values: readonly unknown[] = []) =>
    service.fresh.database.query<Row>(text, [...values]);
  return {
    service,
    channel,
    /** Creates an order of mode B with its first period billed, and the link to its page. */
    async order(fields: Record<string, unknown> = {}): Promise<Ordered> {
      const request = collectRequest(channel, fields);
      const { code, data, text } = await channel.call('orders/create', request);
      if (code !== '0') throw new Error(`orders/create answered ${text}`);
      const { channelUserId, externalOrderNo } = request;
      return { orderNo: data.orderNo, channelUserId, externalOrderNo, path: data.redeemUrl.slice(HOST.length) };
    },
    /** Advances the order by `cycles` periods in the sandbox. */
    async advance({ orderNo }: Ordered, cycles: number) {
      const { code, text } = await channel.call('sandbox/orders/advance', { orderNo, cycles });
      if (code !== '0') throw new Error(`sandbox/orders/advance answered ${text}`);
    },
    /** Returns a link with changed values, signed as the channel would. */
    link(
      { orderNo, channelUserId }: Ordered,
      changed: Partial<RedeemSignParts> = {},
      credentials: Partial<ChannelCredentials> = {},
    ) {
      const { appId, callbackSecret } = { ...channel.credentials, ...credentials };
      const exp = Math.floor(service.clock.now() / 1000) + 3_600;
      const parts = { host: '', orderNo, appId, channelUserId, exp, ...changed };
      return redeemUrl(parts, Buffer.from(callbackSecret, 'base64'));
    },
    get: (path: string, headers: Record<string, string> = {}) => get(service.baseUrl, path, headers),
    post: (path: string, fields: Form | string, headers: Record<string, string | undefined> = {}) =>
      post(service.baseUrl, path, fields, headers),
    query,
    /** Returns the statuses of a period's benefits, in the sequence in which the product lists the benefits. */
    async benefitsOf({ orderNo }: Ordered, cycleNo = 1) {
      const rows = await query<{ status: string }>(
        'select status from benefits where order_no = $1 and cycle_no = $2 order by position',
        [orderNo, cycleNo],
      );
      return rows.map(({ status }) => status);
    },
    close: () => service.close(),
  };
}

export type Stage = Awaited<ReturnType<typeof stage>>;

export const get = (baseUrl: string, path: string, headers: Record<string, string> = {}): Promise<Reply> =>
  send(baseUrl, 'GET', path, headers, Buffer.alloc(0));

/** Posts a form of the page with the headers of a browser, unless other headers are given. */
export function post(
  baseUrl: string,
  path: string,
  fields: Form | string,
  headers: Record<string, string | undefined> = {},
): Promise<Reply> {
  const body = typeof fields === 'string' ? fields : new URLSearchParams(fields).toString();
  const own = {
    'content-type': 'application/x-www-form-urlencoded',
    'sec-fetch-site': 'same-origin',
    origin: 'null',
  };
  return send(baseUrl, 'POST', path, { ...own, ...headers }, Buffer.from(body));
}

/** Returns the URL of another page, for the same link. */
export const at = (path: string, page: string): string => path.replace('/redeem?', `/redeem/${page}?`);

/** The status and title of the answer to a post that does not come from the page. */
export const FOREIGN = [403, 'This request did not come from this page'];

/** Returns a text as it is in the page's HTML. */
export const escaped = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');

const unescaped = (text: string): string =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

/** Returns the names and values of the hidden fields of a page's first form. */
export function formOf({ text }: Reply): Record<string, string> {
  const [form = ''] = /<form[\s\S]*?<\/form>/.exec(text) ?? [];
  const inputs = form.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g);
  return Object.fromEntries([...inputs].map(([, name = '', value = '']) => [name, unescaped(value)]));
}

/** Returns the values of a page's claim buttons, by benefit name and period: `VIP pass 1`. */
export function claimsOf({ text }: Reply): Map<string, string> {
  const items = text.matchAll(
    /<h4[^>]*><bdi>([^<]*)<\/bdi><\/h4>(?:(?!<\/li>)[\s\S])*?name="claim" value="(\d+)(-\d+)"/g,
  );
  return new Map(
    [...items].map(([, name = '', cycleNo = '', rest = '']) => [`${name} ${cycleNo}`, `${cycleNo}${rest}`]),
  );
}

/** Returns the values of a page's buttons that claim a whole period, by period. */
export const claimAllsOf = ({ text }: Reply): Map<string, string> =>
  new Map([...text.matchAll(/name="period" value="(\d+)"/g)].map(([, period = '']) => [period, period]));

export const codesOf = ({ text }: Reply): string[] =>
  [...text.matchAll(/<code>([^<]*)<\/code>/g)].map(([, code = '']) => code);

/** Returns the visible text. */
export const textOf = ({ text }: Pick<Reply, 'text'>): string =>
  text
    .replace(/<\/?(?:bdi|wbr|span class="(?:date|to)"|span|strong)>/g, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();

/** Returns the page's notice about the last action. */
export const noticeOf = ({ text }: Reply): string | undefined => /role="alert">([^<]*)</.exec(text)?.[1];

export const titleOf = ({ text }: Reply): string | undefined => /<title>([^<]*)</.exec(text)?.[1];

/** Posts a form of the page. Returns the answer, and the page that a browser ends up on. */
export async function follow(on: Stage, path: string, fields: Form): Promise<{ answer: Reply; page: Reply }> {
  const answer = await on.post(path, fields);
  const { location } = answer.headers;
  return { answer, page: location === undefined ? answer : await on.get(location.replace(/#.*/, '')) };
}

/** Presses the button of a benefit. */
export async function claim(on: Stage, page: Reply, what: string): Promise<{ answer: Reply; page: Reply }> {
  const value = claimsOf(page).get(what);
  if (value === undefined) throw new Error(`the page has no button for ${what}`);
  return follow(on, '/redeem/claim', { ...formOf(page), claim: value });
}

/** Creates a product of mode B that the channel may sell: 12 months of ¥10.00, unless `product` says otherwise. */
export async function sell(
  { service: { operator }, channel }: Pick<Stage, 'service' | 'channel'>,
  product: Sold,
): Promise<void> {
  const { productCode } = product;
  const course = { periodType: 'MONTH', period: 1, totalCycles: 12, amountCent: 1000 };
  await createProduct(operator, {
    ...course,
    settlementModes: ['CHANNEL_COLLECT'],
    productName: productCode,
    ...product,
  });
  await authorizeProduct(operator, { appId: channel.credentials.appId, productCode });
}

type ProductInput = Parameters<typeof createProduct>[1];
type Sold = Pick<ProductInput, 'productCode' | 'benefits'> & Partial<ProductInput>;

/** Creates a product SIX, whose periods grant `Number 1` to `Number 6`. */
export const openSixShop = (on: Stage): Promise<void> =>
  sell(on, {
    productCode: 'SIX',
    productName: 'Six at once',
    benefits: [1, 2, 3, 4, 5, 6].map((n) => ({ benefitCode: `SIX_${n}`, name: `Number ${n}`, faceValueCent: 100 })),
  });

/**
 * Gives a daily order 9,999 periods with benefits. In the newest thirty periods the benefits are claimed. In the sixty
 * periods before those, the benefits can be claimed. In all earlier periods except the first, the benefits have
 * expired.
 */
export async function fillPeriods({ database }: FreshDatabase, orderNo: string): Promise<void> {
  await database.query(
    `insert into benefits (order_no, cycle_no, position, channel_id, benefit_code, name, face_value_cent, status, issued_at,
       expires_at, claim_no, claimed_at)
     select order_no, n, position, channel_id, benefit_code, name, face_value_cent,
       case when n > 9969 then 'CLAIMED' when n > 9909 then 'ISSUED' else 'EXPIRED' end, issued_at,
       case when n > 9909 then expires_at else issued_at end,
       case when n > 9969 then 'C' || n end, case when n > 9969 then issued_at end
     from benefits, generate_series(2, 9999) n where order_no = $1`,
    [orderNo],
  );
  await database.query(
    `insert into payments (order_no, cycle_no, channel_id, status, expect_at, paid_at, amount_cent)
     select order_no, n, channel_id, status, expect_at + n * interval '1 day', paid_at + n * interval '1 day', amount_cent
     from payments, generate_series(2, 9999) n where order_no = $1`,
    [orderNo],
  );
  await database.query('update orders set cycle_no = 9999 where order_no = $1', [orderNo]);
}

/** Returns the target of a link by its text. */
export function linkIn({ text }: Reply, says: string): string {
  const links = [...text.matchAll(/<a [^>]*href="([^"#]*)[^"]*"[^>]*>(?:<svg.*?<\/svg>)?([^<]*)<\/a>/g)];
  const [, href] = links.find(([, , label]) => label === says) ?? [];
  if (href === undefined) throw new Error(`the page has no link that says ${says}`);
  return unescaped(href);
}
