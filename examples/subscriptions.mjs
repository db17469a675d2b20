// Subscriptions in all three ways: a card that the user binds here (A.1), an agreement that the channel shares (A.2),
// and money that the channel collects itself (B). Then the queries of a channel. Uses only Node's own modules.
//
//   node examples/subscriptions.mjs [path to demo-channel.json]
import { randomInt, randomUUID } from 'node:crypto';
import { encrypt, print, readChannel, send, stop } from './client.mjs';

const channel = readChannel();

// A new user in each run, because a user's mobile never changes within a channel.
const run = Date.now().toString(36);
const channelUserId = `user-${run}`;
const mobile = `1${String(randomInt(1e10)).padStart(10, '0')}`;
const card = {
  bankCardNoEncrypted: encrypt(channel, '6222020000001234567'),
  certificateNoEncrypted: encrypt(channel, '110101199001011234'),
  realNameEncrypted: encrypt(channel, '张三'),
  bankMobileEncrypted: encrypt(channel, '13800000001'),
};

print('First a token, and what may be sold\n');
let token; // the first call needs none
token = (await call('auth/token', { grantType: 'client_credentials', appId: channel.appId })).accessToken;
const { items } = await call('products/list', {});
const { productCode } = items[0];

print('A.1: the user binds a card, and the service debits it\n');
const { bindOrderNo } = await write('agreements/bind-sms', {
  channelUserId,
  mobileEncrypted: encrypt(channel, mobile),
  ...card,
});
await write('agreements/bind-confirm', { bindOrderNo, smsCodeEncrypted: encrypt(channel, '123456') });
const own = await write('orders/create', {
  settlementMode: 'SVC_DEDUCT',
  externalOrderNo: `own-${run}`,
  productCode,
  bindOrderNo,
});
await call('orders/query', { orderNo: own.orderNo });

print('A.2: the channel shares its agreement, and the service debits on it\n');
const shared = await write('orders/create', {
  settlementMode: 'SVC_DEDUCT',
  externalOrderNo: `shared-${run}`,
  productCode,
  channelUserId,
  mobileEncrypted: encrypt(channel, mobile),
  sharedAgreement: {
    paymentChannelCode: channel.paymentChannels[0],
    sharedAgreementNo: `agreement-${run}`,
    channelUserId,
    ...card,
  },
});
await call('orders/query', { orderNo: shared.orderNo });

print('B: the channel collects, and the service bills\n');
const collected = {
  settlementMode: 'CHANNEL_COLLECT',
  externalOrderNo: `collected-${run}`,
  productCode,
  channelUserId,
  mobileEncrypted: encrypt(channel, mobile),
};
const idempotencyKey = randomUUID();
await write('orders/create', collected, idempotencyKey);
await call('orders/query', { externalOrderNo: collected.externalOrderNo });

print('The answer was lost: the same request under the same key gives it again, and no second order\n');
await write('orders/create', collected, idempotencyKey);

print('What a channel asks later\n');
await call('orders/list', { channelUserId });
await call('payments/query', { paymentOrderNo: own.paymentRecords[0].paymentOrderNo });

print('The user has had enough\n');
await write('orders/unsubscribe', { orderNo: own.orderNo, reason: 'too expensive' });

/** Sends a write with an idempotency key. A retry has to send the same key. */
async function write(endpoint, content, idempotencyKey = randomUUID()) {
  return call(endpoint, content, idempotencyKey);
}

/** Sends one request, prints a short form of the request and its answer, and returns the answer's data. */
async function call(endpoint, content, idempotencyKey) {
  const { answer, replayed } = await send(channel, endpoint, content, { token, idempotencyKey });
  print(`${endpoint} ${JSON.stringify(content, shorten)}`);
  print(`  code       ${answer.code} ${answer.message}${replayed ? ', Idempotency-Replayed: true' : ''}`);
  if (answer.code !== '0') stop(`${endpoint} was refused: ${answer.code} ${answer.message}`);
  for (const [name, value] of inShort(answer.data)) print(`  ${name.padEnd(10)} ${value}`);
  print();
  return answer.data;
}

function shorten(name, value) {
  return name.endsWith('Encrypted') ? `${value.slice(0, 16)}...` : value;
}

/** Returns the fields that show what happened, depending on the kind of data. */
function inShort(data) {
  if (data.orders) return data.orders.map((order) => ['order', `${order.orderNo} ${order.orderStatus}`]);
  if (data.items) return data.items.map((product) => ['product', product.productCode]);
  if (data.paymentRecords) return orderInShort(data);
  if (data.paymentOrderNo) return [['period', `${data.paymentOrderNo} ${data.paymentStatus}, paid ${data.paidAt}`]];
  if (data.smsStatus) return [['binding', `${data.bindOrderNo} ${data.agreementStatus}, ${data.smsStatus}`]];
  if (data.agreementNo) return [['agreement', `${data.agreementNo} ${data.agreementStatus}`]];
  return [['expires', data.expiresAt]];
}

function orderInShort({ orderNo, orderStatus, nextPayTime, redeemUrl, paymentRecords }) {
  const [first, ...later] = paymentRecords;
  return [
    ['order', `${orderNo} ${orderStatus}`],
    ['period 1', `${first.paymentOrderNo} ${first.paymentStatus}`],
    ...(later.length > 0 ? [['later', `${later.length} x ${later[0].paymentStatus}`]] : []),
    ['next', nextPayTime ?? 'nothing'],
    ['redeemUrl', redeemUrl ?? 'none'],
    // The redemption page asks for the mobile's last four digits before it ends the order.
    ...(redeemUrl ? [['mobile', `ends in ${mobile.slice(-4)}`]] : []),
  ];
}
