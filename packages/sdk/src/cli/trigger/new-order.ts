import { randomInt, randomUUID } from 'node:crypto';
import type { MainOrder, SettlementMode } from '@perennial/wire';
import type { PerennialClient } from '../../client.js';
import { CommandError } from '../frame/io.js';

export interface NewOrderWish {
  readonly settlementMode: SettlementMode;
  /** Undefined selects a suitable product, preferably a monthly one. */
  readonly productCode: string | undefined;
  /** The end of externalOrderNo, which selects the sandbox's behaviour. */
  readonly suffix?: string | undefined;
}

/** Made-up card data, which the sandbox accepts. */
const CARD = {
  bankCardNo: '6222020000001234567',
  certificateNo: '110101199001011234',
  realName: '张三',
  bankMobile: '13800000001',
};

/** Creates an order for a new user. If the service debits (mode A), the order has a shared agreement. */
export async function createNewOrder(client: PerennialClient, wish: NewOrderWish): Promise<MainOrder> {
  const { settlementMode, suffix = '' } = wish;
  const run = `${randomUUID().slice(0, 8)}${suffix}`;
  const user = { channelUserId: `trigger-${run}`, mobile: `1${String(randomInt(1e10)).padStart(10, '0')}` };
  const common = {
    externalOrderNo: `trigger-${run}`,
    productCode: wish.productCode ?? (await findProduct(client, settlementMode)),
    ...user,
  };
  if (settlementMode === 'CHANNEL_COLLECT') return client.orders.create({ settlementMode, ...common });
  const sharedAgreement = {
    paymentChannelCode: await findPaymentChannel(client),
    sharedAgreementNo: `trigger-${run}`,
    channelUserId: user.channelUserId,
    ...CARD,
  };
  return client.orders.create({ settlementMode, ...common, sharedAgreement });
}

/**
 * Returns a product with several periods, preferably monthly: failed debits are then retried before the next period.
 */
async function findProduct(client: PerennialClient, settlementMode: SettlementMode): Promise<string> {
  const { items } = await client.products.list();
  const sold = items.filter((one) => one.settlementModes.includes(settlementMode) && one.totalCycles > 1);
  const product = sold.find(({ periodType }) => periodType === 'MONTH') ?? sold[0];
  if (product === undefined)
    throw new CommandError(`the channel has no product with several periods for ${settlementMode}`);
  return product.productCode;
}

async function findPaymentChannel(client: PerennialClient): Promise<string> {
  const { items } = await client.paymentChannels.list();
  const shared = items.find(({ shareEnabled }) => shareEnabled);
  if (shared === undefined) throw new CommandError('the channel has no payment channel that accepts shared agreements');
  return shared.code;
}
