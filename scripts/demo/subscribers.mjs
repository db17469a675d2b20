// A channel's users: how they subscribe and what they do on the redemption page.
import { randomUUID } from 'node:crypto';
import { BANKS, NAMES, PAYMENT_CHANNELS, PRODUCTS } from './cast.mjs';

const WALLET = PAYMENT_CHANNELS[0].code;
const CARD = PAYMENT_CHANNELS[1].code;

/** Creates a seller, which sells one channel's products to made-up users. */
export function createSeller({ baseUrl, client, prefix }) {
  let users = 0;

  function nextUser() {
    users += 1;
    const no = String(users).padStart(4, '0');
    const mobile = `138${String(prefix.charCodeAt(0)).padStart(3, '0')}${no}0`;
    const card = {
      bankCardNo: `62220200000${prefix.charCodeAt(0)}${String(1000 + users)}00`,
      certificateNo: '110101199001011234',
      realName: NAMES[users % NAMES.length],
      bankMobile: mobile,
    };
    return { channelUserId: `${prefix.toLowerCase()}-user-${no}`, mobile, card };
  }

  /** Starts a binding and returns its bindOrderNo. */
  async function sendCode({ channelUserId, mobile, card }) {
    const bank = { paymentChannelCode: CARD, bankCode: BANKS[users % BANKS.length] };
    return (await client.agreements.bindSms({ channelUserId, mobile, ...bank, ...card })).bindOrderNo;
  }

  async function describeAgreement(way, user) {
    const { channelUserId, mobile, card } = user;
    if (way === 'collected') return { channelUserId, mobile, channelAgreementRef: `REF-${randomUUID()}` };
    if (way === 'shared') return { channelUserId, mobile, sharedAgreement: shareAgreement(user) };
    if (way === 'refused-card')
      await client.agreements.bindConfirm({ bindOrderNo: await sendCode(user), smsCode: '000000' });
    if (way === 'left-binding') {
      await sendCode({ ...user, card: { ...card, bankCardNo: `${card.bankCardNo.slice(0, -2)}99` } });
    }
    const bindOrderNo = await sendCode(user);
    await client.agreements.bindConfirm({ bindOrderNo, smsCode: '123456' });
    return { bindOrderNo };
  }

  const shareAgreement = ({ channelUserId, card }) => ({
    paymentChannelCode: WALLET,
    sharedAgreementNo: `shared-${randomUUID()}`,
    channelUserId,
    certType: 'ID_CARD',
    ...card,
  });

  return {
    client,
    /** Creates an order. `ends` is the end of externalOrderNo: by it the sandbox chooses the first debit's result. */
    async subscribe(product, way, ends = '') {
      const user = nextUser();
      const { orderNo, redeemUrl } = await client.orders.create({
        settlementMode: way === 'collected' ? 'CHANNEL_COLLECT' : 'SVC_DEDUCT',
        externalOrderNo: `${prefix}-${String(users).padStart(6, '0')}${ends}`,
        productCode: PRODUCTS[product].productCode,
        ...(await describeAgreement(way, user)),
      });
      return { orderNo, user, page: redeemUrl === null ? undefined : toPage(baseUrl, redeemUrl) };
    },
    /** Runs the next periods now. */
    advance: ({ orderNo }, cycles, outcomes = []) => client.sandbox.orders.advance({ orderNo, cycles, outcomes }),
    unsubscribe: ({ orderNo }, reason) => client.orders.unsubscribe({ orderNo, reason }),
    replaceCard: ({ orderNo, user }) =>
      client.agreements.replace({ orderNo, newSharedAgreement: shareAgreement(user) }),
    /** Claims the first benefit that the redemption page offers. */
    async claim({ page }) {
      const { text, fields } = await open(page);
      const button = /name="claim" value="([^"]+)"/.exec(text);
      if (!button) throw new Error('the page of a paid period has a button to claim');
      await submit(new URL('/redeem/claim', page), { ...fields, claim: button[1] });
    },
    /** Ends the subscription on the redemption page. */
    async leave({ page, user }) {
      const question = new URL(page.href.replace('/redeem?', '/redeem/unsubscribe?'));
      const { fields } = await open(question);
      await submit(new URL('/redeem/unsubscribe', page), { ...fields, digits: user.mobile.slice(-4) });
    },
  };
}

/** Returns the redemption page's URL at `baseUrl`, because this machine may not reach the service's public URL. */
function toPage(baseUrl, redeemUrl) {
  const { pathname, search } = new URL(redeemUrl);
  return new URL(pathname + search, baseUrl);
}

async function open(page) {
  const text = await (await fetch(page)).text();
  const hidden = text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g);
  return {
    text,
    fields: Object.fromEntries([...hidden].map(([, name, value]) => [name, value.replaceAll('&amp;', '&')])),
  };
}

async function submit(address, fields) {
  const headers = { origin: 'null', 'sec-fetch-site': 'same-origin' };
  const response = await fetch(address, {
    method: 'POST',
    headers,
    body: new URLSearchParams(fields),
    redirect: 'manual',
  });
  if (response.status !== 303) throw new Error(`${address.pathname} answered ${response.status}`);
}
