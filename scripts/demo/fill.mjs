// Fills a sandbox over HTTP, as real users would: channels sell through the interface, sandbox/orders/advance moves
// time, and operators use the console's API.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { PerennialClient } from 'perennial-channel';
import { CHANNELS, LEAVING_REASONS, ORDER_NOTES, PAYMENT_CHANNELS, PEOPLE, PRODUCTS, REFUND_NOTES } from './cast.mjs';
import { setPassword, signIn } from './console.mjs';
import { createSeller } from './subscribers.mjs';

const DAY_MS = 24 * 3600 * 1000;

/** Creates about a hundred orders. `admin` is the name and password of an account with the role admin. */
export async function fillDemo({ baseUrl, admin }) {
  const receivers = await startReceivers();
  try {
    const people = await hirePeople(baseUrl, admin);
    await provision(people.admin);
    const orders = [];
    await Promise.all(
      CHANNELS.map(async (channel, index) => {
        const credentials = await createChannel(people.admin, channel, receivers.url);
        const client = new PerennialClient({ ...credentials, baseUrl, appId: channel.appId });
        const seller = createSeller({ baseUrl, client, prefix: channel.prefix });
        orders.push(...(await sell(seller, index)));
        await client.orders.query({ orderNo: '999999999999' }).catch(() => undefined);
      }),
    );
    await operate(people, orders);
    await waitForDeliveries(people.admin);
    return { orders: orders.length, appIds: CHANNELS.map(({ appId }) => appId) };
  } finally {
    receivers.close();
  }
}

/** Starts a webhook receiver that answers with the status in its path. */
async function startReceivers() {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const status = Number(request.url?.slice(1));
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ code: status === 200 ? '0' : 'maintenance' }));
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Creates the operators' accounts with random passwords that are not stored, and signs in with each. */
async function hirePeople(baseUrl, admin) {
  const people = { admin: await signIn(baseUrl, admin) };
  for (const [name, role] of Object.entries(PEOPLE)) {
    const { setupLink } = await people.admin('POST', '/people', { name, role });
    const password = randomUUID();
    await setPassword(baseUrl, setupLink, password);
    people[name] = await signIn(baseUrl, { name, password });
  }
  return people;
}

async function provision(admin) {
  for (const channel of PAYMENT_CHANNELS) await admin('POST', '/payment-channels', { gateway: 'sandbox', ...channel });
  for (const product of Object.values(PRODUCTS)) await admin('POST', '/products', product);
  await admin('PUT', '/benefits/DEMO_COFFEE/fulfilment', { kind: 'pool' });
  await admin('PUT', '/benefits/DEMO_COFFEE/low-stock', { lowStock: 40 });
  const codes = Array.from({ length: 6 }, () => `CF-${randomUUID().toUpperCase()}`);
  await admin('POST', '/benefits/DEMO_COFFEE/codes', { codes: codes.join('\n') });
}

async function createChannel(admin, { appId, name, receives }, receiverUrl) {
  const { credentials } = await admin('POST', '/channels', { appId, name });
  if (receives !== null) {
    await admin('PUT', `/channels/${appId}`, { callback: { eventType: '*', url: `${receiverUrl}/${receives}` } });
  }
  for (const [index, { code }] of PAYMENT_CHANNELS.entries()) {
    const isFirst = index === 0;
    await admin('PUT', `/channels/${appId}/payment-channels/${code}`, { isDefault: isFirst, shareEnabled: isFirst });
  }
  for (const { productCode } of Object.values(PRODUCTS)) {
    await admin('PUT', `/channels/${appId}/products/${productCode}`);
  }
  return credentials;
}

const AGREEMENTS = ['bound', 'shared'];
const WAYS = [...AGREEMENTS, 'collected'];
const pick = (list, index) => list[index % list.length];
const times = (count, story) =>
  Array.from({ length: count }, (_, nth) => (seller, index) => story(seller, nth + index));

/**
 * One function for each order of a channel. It creates the order, continues it, and returns it with a `kind`, by which
 * `operate` finds the order. `nth` numbers the calls of the same function, and starts with a different number in each
 * channel.
 */
const STORIES = [
  ...times(5, async (seller, nth) => {
    const order = await seller.subscribe(pick(Object.keys(PRODUCTS), nth), pick(WAYS, nth));
    if (nth % 2 === 0) await seller.claim(order);
    return { ...order, kind: 'new' };
  }),
  ...times(5, async (seller, nth) => {
    const order = await seller.subscribe(pick(['monthly', 'weekly'], nth), pick(WAYS, nth));
    await seller.advance(order, 2 + (nth % 4));
    if (nth % 2 === 0) await seller.claim(order);
    return { ...order, kind: 'renewed' };
  }),
  ...times(2, async (seller, nth) => {
    const order = await seller.subscribe('trial', pick(WAYS, nth));
    await seller.advance(order, 7);
    return { ...order, kind: 'completed' };
  }),
  ...times(1, async (seller, nth) => {
    const order = await seller.subscribe('weekly', pick(AGREEMENTS, nth));
    await seller.advance(order, 1, ['FAIL_RETRY']);
    await seller.advance(order, 1);
    return { ...order, kind: 'recovered' };
  }),
  ...times(2, async (seller, nth) => {
    const order = await seller.subscribe(pick(['monthly', 'weekly'], nth), pick(AGREEMENTS, nth));
    await seller.advance(order, 1, ['FAIL_RETRY']);
    return { ...order, kind: 'failing' };
  }),
  async (seller, index) => {
    const order = await seller.subscribe('weekly', pick(AGREEMENTS, index));
    await seller.advance(order, 2, ['FAIL', 'SUCCESS']);
    return { ...order, kind: 'failed' };
  },
  async (seller, index) => {
    const order = await seller.subscribe('monthly', pick(AGREEMENTS, index));
    await seller.advance(order, 1, ['AGREEMENT_INVALID']);
    return { ...order, kind: 'ended-by-bank' };
  },
  async (seller) => ({ ...(await seller.subscribe('monthly', 'shared', '_FAIL')), kind: 'terminated' }),
  async (seller) => ({ ...(await seller.subscribe('weekly', 'shared', '_PENDING')), kind: 'pending' }),
  async (seller) => {
    const order = await seller.subscribe('weekly', 'shared');
    await seller.advance(order, 1, ['FAIL_RETRY']);
    await seller.replaceCard(order);
    return { ...order, kind: 'card-replaced' };
  },
  async (seller) => ({ ...(await seller.subscribe('monthly', 'refused-card')), kind: 'new' }),
  async (seller) => ({ ...(await seller.subscribe('weekly', 'left-binding')), kind: 'new' }),
  async (seller, index) => {
    const order = await seller.subscribe('monthly', pick(WAYS, index));
    await seller.unsubscribe(order, pick(LEAVING_REASONS, index));
    return { ...order, kind: 'left' };
  },
  async (seller, index) => {
    const order = await seller.subscribe('weekly', pick(WAYS, index));
    await seller.leave(order);
    return { ...order, kind: 'left' };
  },
  async (seller) => ({ ...(await seller.subscribe('monthly', 'bound')), kind: 'to-refund' }),
  async (seller) => ({ ...(await seller.subscribe('yearly', 'shared')), kind: 'to-refund-in-part' }),
];

async function sell(seller, index) {
  const orders = [];
  for (const story of STORIES) orders.push(await story(seller, index));
  return orders;
}

/** Adds notes, refunds, an unsubscription, bulk runs and a reconciliation, and handles alerts. */
async function operate({ admin, ann, chen, dora }, orders) {
  const all = (kind) => orders.filter((order) => order.kind === kind);
  for (const [index, { orderNo }] of all('renewed').slice(0, 4).entries()) {
    await ann('POST', `/orders/${orderNo}/notes`, { text: pick(ORDER_NOTES, index) });
  }
  const [unhappy] = all('recovered');
  await ann('POST', `/orders/${unhappy.orderNo}/unsubscribe`, { reason: '用户来电要求退订，已核实手机尾号' });
  await refund(chen, all('to-refund'), {});
  // A second operator has to approve this refund if CONSOLE_REFUND_APPROVAL_CENT is lower than the amount.
  await refund(chen, all('to-refund-in-part'), { amountCent: 9900 });
  const { approvals } = await dora('GET', '/approvals?status=WAITING');
  for (const [index, { approvalId }] of approvals.slice(1).entries()) {
    const decision = index === 0 ? 'approve' : 'decline';
    await dora('POST', `/approvals/${approvalId}/${decision}`, {
      note: index === 0 ? '已核实' : '已超过七天无理由期限',
    });
  }
  await retryInBulk(ann, all('failing'));
  await reconcileYesterday(chen);
  await admin('POST', '/channels/test_melody/events/pause', { eventType: 'payment.status.changed' });
  await admin('POST', '/channels/test_fitlife/events/test').catch(() => undefined);
  await lookAfterAlerts(ann);
}

async function refund(person, orders, asked) {
  for (const [index, { orderNo }] of orders.entries()) {
    const note = pick(REFUND_NOTES, index);
    await person('POST', `/orders/${orderNo}/periods/1/refund`, { ...asked, note, key: randomUUID() });
  }
}

/** Starts one bulk run, and prepares a second without starting it. */
async function retryInBulk(ann, failing) {
  const prepare = (some, reason) => {
    const items = some.map(({ orderNo }) => `${orderNo}-2`);
    return ann('POST', '/bulk', { kind: 'RETRY', items, reason, key: randomUUID() });
  };
  const { runId, confirmation } = await prepare(failing.slice(0, 2), 'salaries are paid on the fifteenth');
  await ann('POST', `/bulk/${runId}/start`, { confirmation });
  await prepare(failing.slice(2), '银行系统维护已结束');
}

/** Reconciles a statement whose lines are unknown to the service, and closes one of the differences. */
async function reconcileYesterday(chen) {
  const day = new Date(Date.now() - DAY_MS + 8 * 3600 * 1000).toISOString().slice(0, 10);
  const lines = [1, 2, 3].map((no) => `DEBIT,10000000${no}0000101,${no}990,SUCCESS,${day} 12:00:0${no},demo-${no}`);
  const csv = ['kind,number,amountCent,status,bookedAt,institutionRef', ...lines, ''].join('\n');
  const paymentChannelCode = PAYMENT_CHANNELS[0].code;
  await chen('POST', '/reconciliations', { paymentChannelCode, day, csv });
  const { differences } = await chen('GET', '/differences');
  const [first, second] = differences.map(({ differenceNo }) => differenceNo);
  await chen('PUT', `/differences/${first}/owner`, { owner: 'chen' });
  await chen('POST', `/differences/${second}/close`, {
    note: 'a manual booking of the institution, reversed the same day',
  });
}

/** Gives the first alert an owner and a comment, and acknowledges the second. */
async function lookAfterAlerts(ann) {
  const { alerts } = await poll(
    () => ann('GET', '/alerts'),
    (found) => found.alerts.length >= 2,
  );
  const [first, second] = alerts.map(({ kind, subject }) => ({ kind, subject }));
  await ann('POST', '/alerts/owner', { ...first, owner: 'ann' });
  await ann('POST', '/alerts/comments', { ...first, text: '已联系机构，等待回复。' });
  await ann('POST', '/alerts/acknowledge', second);
}

/** Waits until a working receiver has got its events and the failing receiver has refused some. */
async function waitForDeliveries(admin) {
  await poll(
    () => admin('GET', '/events/channels'),
    ({ channels }) => {
      const of = (wanted) => channels.find(({ appId }) => appId === wanted);
      return of('test_sunny_video')?.waiting === 0 && of('test_fitlife')?.failed > 0;
    },
  );
}

const POLL_MS = 200;
const MAX_POLLS = 300;

async function poll(ask, isEnough) {
  for (let polls = 0; polls < MAX_POLLS; polls += 1) {
    const found = await ask();
    if (isEnough(found)) return found;
    await delay(POLL_MS);
  }
  throw new Error('the service has not done its work within a minute: is its engine on?');
}
