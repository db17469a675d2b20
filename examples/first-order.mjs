// A first order by the SDK: the channel collects the money itself (way B), so one call is enough.
//
//   node examples/first-order.mjs [path to demo-channel.json]
import { readFileSync } from 'node:fs';
import { PerennialClient } from 'perennial-channel';

const channel = JSON.parse(readFileSync(process.argv[2] ?? 'data/demo-channel.json', 'utf8'));
const perennial = new PerennialClient(channel);

const order = await perennial.orders.create({
  settlementMode: 'CHANNEL_COLLECT',
  externalOrderNo: `first-${Date.now()}`,
  productCode: 'TEST_SPU_001',
  channelUserId: `user-${Date.now()}`,
  // A new mobile for each run, because a user's mobile never changes within a channel.
  mobile: `1${String(Date.now()).slice(-10)}`,
});
console.log(order.orderNo, order.orderStatus);
console.log(order.redeemUrl);
