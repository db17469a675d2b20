// A first order: the channel collects the money itself (way B), so one call is all there is. On the SDK.
//
//   node examples/first-order.mjs [path to demo-channel.json]
import { readFileSync } from 'node:fs';
import { PerennialClient } from 'perennial-channel';

const channel = JSON.parse(readFileSync(process.argv[2] ?? 'data/demo-channel.json', 'utf8'));
const perennial = new PerennialClient(channel);

const run = Date.now();
const order = await perennial.orders.create({
  settlementMode: 'CHANNEL_COLLECT',
  externalOrderNo: `first-${run}`,
  productCode: 'TEST_SPU_001',
  channelUserId: `user-${run}`,
  mobile: `1${String(run).slice(-10)}`, // within a channel, one user has one mobile for good
});
console.log(order.orderNo, order.orderStatus, order.redeemUrl);
