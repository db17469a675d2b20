// A year of two subscriptions in a few seconds, by the sandbox's time travel. The debits of one order succeed every
// month. Some debits of the other order fail: period 2 succeeds only at the third attempt, period 3 fails for good, and
// in period 5 the agreement has ended. Uses only Node's own modules.
//
//   node examples/a-year.mjs [path to demo-channel.json]
import { randomInt, randomUUID } from 'node:crypto';
import { encrypt, print, readChannel, send, stop } from './client.mjs';

const channel = readChannel();
let token; // the first call needs none
token = (await call('auth/token', { grantType: 'client_credentials', appId: channel.appId })).accessToken;

print('Twelve periods, all paid\n');
const good = await subscribe();
show(await advance(good, { cycles: 11 }));

print('A card that recovers on the third try\n');
const bad = await subscribe();
for (const outcome of ['FAIL_RETRY', 'FAIL_RETRY', 'SUCCESS']) {
  const { paymentRecords, nextPayTime } = await advance(bad, { cycles: 1, outcomes: [outcome] });
  print(`  period 2   ${paymentRecords[1].paymentStatus.padEnd(10)}  next ${nextPayTime}`);
}

print('\nA period that fails to the end, one that is paid, and an agreement that is gone\n');
show(await advance(bad, { cycles: 3, outcomes: ['FAIL_RETRY', 'SUCCESS', 'AGREEMENT_INVALID'] }));

/** Creates a user with a shared agreement, and an order that is debited on this agreement. */
async function subscribe() {
  const run = randomUUID();
  const channelUserId = `user-${run}`;
  const { orderNo } = await call('orders/create', {
    settlementMode: 'SVC_DEDUCT',
    externalOrderNo: `year-${run}`,
    productCode: 'TEST_SPU_001',
    channelUserId,
    mobileEncrypted: encrypt(channel, `1${String(randomInt(1e10)).padStart(10, '0')}`),
    sharedAgreement: {
      paymentChannelCode: channel.paymentChannels[0],
      sharedAgreementNo: `agreement-${run}`,
      channelUserId,
      bankCardNoEncrypted: encrypt(channel, '6222020000001234567'),
      certificateNoEncrypted: encrypt(channel, '110101199001011234'),
      realNameEncrypted: encrypt(channel, '张三'),
      bankMobileEncrypted: encrypt(channel, '13800000001'),
    },
  });
  return orderNo;
}

function advance(orderNo, content) {
  return call('sandbox/orders/advance', { orderNo, ...content });
}

/** Sends one request and returns the answer's data. */
async function call(endpoint, content) {
  const { answer } = await send(channel, endpoint, content, { token, idempotencyKey: randomUUID() });
  if (answer.code !== '0') stop(`${endpoint} was refused: ${answer.code} ${answer.message}`);
  return answer.data;
}

function show({ orderNo, orderStatus, totalPaidAmountCent, paymentRecords }) {
  for (const { cycleNo, expectPayTime, paidAt, paymentStatus } of paymentRecords) {
    const paid = paidAt === null ? '' : `  paid ${paidAt}`;
    print(`  ${`period ${cycleNo}`.padEnd(10)} ${paymentStatus.padEnd(10)}  due ${expectPayTime}${paid}`);
  }
  print(`  order      ${orderNo} ${orderStatus}, ${(totalPaidAmountCent / 100).toFixed(2)} paid\n`);
}
