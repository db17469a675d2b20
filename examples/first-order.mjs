// A first order by the SDK: the channel collects the money itself (way B), so one call is enough.
//
//   node examples/first-order.mjs [path to demo-channel.json]
import { readChannel, stop } from './client.mjs';

// Read before the SDK is imported: before the first npm start both are missing, and readChannel says what to do.
const channel = readChannel();
const { PerennialClient, PerennialConnectionError } = await import('perennial-channel');
const perennial = new PerennialClient({ ...channel, retries: 0 });

try {
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
} catch (error) {
  const isSilent = error instanceof PerennialConnectionError;
  stop(isSilent ? `nothing answers at ${channel.baseUrl}: start the service with npm start` : error.message);
}
