import { type ChannelClient, type ChannelCredentials, channelClient } from '../../test/support/channel-client.js';
import { collectRequest } from '../../test/support/demo.js';

const PRODUCT = 'VIP_MONTHLY';
const APP_ID = 'partner_one';

/** Runs one command of the installed program and returns what it prints. */
export type Command = (...args: string[]) => Promise<string>;

/** Sets up a channel and a product of way B in production, as docs/setup.md#add-a-channel describes. */
export async function addChannel(perennial: Command): Promise<ChannelCredentials> {
  const about = [
    '--period-type',
    'MONTH',
    '--cycles',
    '12',
    '--amount-cent',
    '1990',
    '--benefit',
    'PASS:1990:VIP pass',
  ];
  await perennial('product', 'create', PRODUCT, '--name', 'VIP, monthly', '--mode', 'CHANNEL_COLLECT', ...about);
  const approval = ['--without-approval', 'a proof'];
  const made = await perennial('channel', 'create', '--name', 'Partner', '--app-id', APP_ID, '--json', ...approval);
  await perennial('channel', 'authorize-product', APP_ID, PRODUCT);
  return JSON.parse(made);
}

/** Creates an order at one node and returns its number. Throws unless the order is active. */
export async function createOrder(baseUrl: string, credentials: ChannelCredentials): Promise<string> {
  const client = channelClient(baseUrl, credentials);
  const made = await client.call('orders/create', collectRequest(client, { productCode: PRODUCT }));
  if (made.code !== '0') throw new Error(`orders/create answered ${made.text}`);
  await findOrder(client, made.data.orderNo);
  return made.data.orderNo;
}

/** Throws unless an order is active. */
export async function findOrder(client: ChannelClient, orderNo: string): Promise<void> {
  const found = await client.call('orders/query', { orderNo });
  if (found.data?.orderStatus !== 'ACTIVE') throw new Error(`orders/query answered ${found.text}`);
}
