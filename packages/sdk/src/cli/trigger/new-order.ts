import { randomInt, randomUUID } from 'node:crypto';
import type { MainOrder, SettlementMode } from '@perennial/wire';
import type { BodyOf } from '../../bodies.js';
import type { PerennialClient } from '../../client.js';
import { CommandError } from '../frame/io.js';

export interface NewOrderWish {
  readonly settlementMode: SettlementMode;
  /** Undefined selects a suitable product, preferably a monthly one. */
  readonly productCode: string | undefined;
  /** The end of externalOrderNo, which selects the sandbox's behaviour. */
  readonly suffix?: string | undefined;
  /** True if the product must have one period, otherwise it has several. */
  readonly hasOnePeriod?: boolean | undefined;
  /** Undefined: the same as externalOrderNo. */
  readonly sharedAgreementNo?: string | undefined;
}

/** Made-up card data, which the sandbox accepts. */
const CARD = {
  bankCardNo: '6222020000001234567',
  certificateNo: '110101199001011234',
  realName: '张三',
  bankMobile: '13800000001',
};

/** Creates an order for a new user. If the service debits (mode A), the order has a shared agreement. */
export const createNewOrder = async (client: PerennialClient, wish: NewOrderWish): Promise<MainOrder> =>
  client.orders.create(await describeNewOrder(client, wish));

/** Returns the body of a request for an order of a new user. */
export async function describeNewOrder(client: PerennialClient, wish: NewOrderWish): Promise<BodyOf<'orders/create'>> {
  const { settlementMode, suffix = '', hasOnePeriod = false } = wish;
  const run = `${randomUUID().slice(0, 8)}${suffix}`;
  const user = { channelUserId: `trigger-${run}`, mobile: `1${String(randomInt(1e10)).padStart(10, '0')}` };
  const common = {
    externalOrderNo: `trigger-${run}`,
    productCode: wish.productCode ?? (await findProduct(client, settlementMode, hasOnePeriod)),
    ...user,
  };
  if (settlementMode === 'CHANNEL_COLLECT') return { settlementMode, ...common };
  const { sharedAgreementNo = common.externalOrderNo } = wish;
  const sharedAgreement = await createSharedAgreement(client, user.channelUserId, sharedAgreementNo);
  return { settlementMode, ...common, sharedAgreement };
}

/** Returns an agreement of a user with made-up card data. Without a number, makes one up. */
export async function createSharedAgreement(
  client: PerennialClient,
  channelUserId: string,
  sharedAgreementNo = `trigger-${randomUUID().slice(0, 8)}`,
) {
  return { paymentChannelCode: await findPaymentChannel(client), sharedAgreementNo, channelUserId, ...CARD };
}

/**
 * Returns a product with one or several periods, preferably monthly: failed debits are then retried before the next
 * period.
 */
async function findProduct(
  client: PerennialClient,
  settlementMode: SettlementMode,
  hasOnePeriod: boolean,
): Promise<string> {
  const { items } = await client.products.list();
  const sold = items.filter(
    ({ settlementModes, totalCycles }) =>
      settlementModes.includes(settlementMode) && (totalCycles === 1) === hasOnePeriod,
  );
  const product = sold.find(({ periodType }) => periodType === 'MONTH') ?? sold[0];
  if (product !== undefined) return product.productCode;
  const periods = hasOnePeriod ? 'one period' : 'several periods';
  throw new CommandError(
    `the channel has no product with ${periods} for ${settlementMode}: ask the operator, or on your own sandbox run npx perennial-server product create --help`,
  );
}

async function findPaymentChannel(client: PerennialClient): Promise<string> {
  const { items } = await client.paymentChannels.list();
  const shared = items.find(({ shareEnabled }) => shareEnabled);
  if (shared === undefined) throw new CommandError('the channel has no payment channel that accepts shared agreements');
  return shared.code;
}
