import { redeemUrl } from '@perennial/wire';
import { createFormToken } from '../dist/redeem/form-token.js';
import { CLAIM_ACTION } from '../dist/redeem/page/parts/claimable-groups.js';

/** The first order number of the orders with two unclaimed benefits each. */
const FIRST = 810_000_000_001;
const COUNT = 60_000;

export async function makeRedeemable(database, channelId) {
  const bounds = [channelId, FIRST, FIRST + COUNT - 1];
  await database.query(
    `insert into orders (order_no, channel_id, external_order_no, channel_user_id, product_code, settlement_mode, status,
       period_type, period, total_cycles, amount_cent, created_at, success_at, cycle_no, next_due_at, paid_cycles,
       paid_amount_cent, latest_payment_status)
     select n, $1, 'redeem-' || n, 'redeemer-' || n, 'TEST_SPU_001', 'CHANNEL_COLLECT', 'ACTIVE', 'MONTH', 1, 12, 1990,
       now(), now(), 1, now() + interval '1 month', 1, 1990, 'BILLED'
     from generate_series($2::bigint, $3::bigint) n`,
    bounds,
  );
  await database.query(
    `insert into payments (order_no, cycle_no, channel_id, status, expect_at, paid_at, amount_cent)
     select n, 1, $1, 'BILLED', now(), now(), 1990 from generate_series($2::bigint, $3::bigint) n`,
    bounds,
  );
  await database.query(
    `insert into benefits (order_no, cycle_no, position, channel_id, benefit_code, name, face_value_cent, issued_at,
       expires_at)
     select n, 1, position, $1, 'BENEFIT_' || position, 'Benefit', 500, now(), now() + interval '90 days'
     from generate_series($2::bigint, $3::bigint) n, generate_series(1, 2) position`,
    bounds,
  );
  await database.query('vacuum analyze orders, payments, benefits');
}

const LANGUAGE = { 'Accept-Language': 'zh-CN,zh;q=0.9' };
let opened = 0;
let claimed = 0;

/** Returns a request that opens the redemption page with a new link, for the orders in turn. */
export function openPage(channel) {
  opened += 1;
  const { search } = linkTo(channel, FIRST + (opened % COUNT));
  return { method: 'GET', path: `/redeem${search}`, headers: LANGUAGE, body: '', expects: 'HTTP/1.1 200' };
}

/** Returns a request that claims a benefit which no earlier request has claimed. */
export function claimBenefit(channel) {
  if (claimed === 2 * COUNT) throw new Error('there is nothing left to claim: use fewer or shorter runs');
  const orderNo = FIRST + (claimed % COUNT);
  const position = 1 + Math.floor(claimed / COUNT);
  claimed += 1;
  const { searchParams: fields } = linkTo(channel, orderNo);
  const link = { sig: fields.get('sig') };
  const token = createFormToken(Buffer.from(channel.callbackSecret, 'base64'), link, CLAIM_ACTION);
  fields.set('token', token);
  fields.set('claim', `1-${position}`);
  return {
    method: 'POST',
    path: '/redeem/claim',
    headers: { ...LANGUAGE, 'Content-Type': 'application/x-www-form-urlencoded', 'Sec-Fetch-Site': 'same-origin' },
    body: fields.toString(),
    expects: 'HTTP/1.1 303',
  };
}

function linkTo({ appId, callbackSecret }, orderNo) {
  const parts = { host: 'http://127.0.0.1', orderNo: String(orderNo), appId, channelUserId: `redeemer-${orderNo}` };
  // Makes every link different, because each link has its own rate limit.
  const exp = Math.floor(Date.now() / 1000) + 86_400 + ((opened + claimed) % 100_000);
  return new URL(redeemUrl({ ...parts, exp }, Buffer.from(callbackSecret, 'base64')));
}
