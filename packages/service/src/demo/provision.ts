import { randomBytes } from 'node:crypto';
import type { Channel } from '../catalog/channels/channel.js';
import { createChannelRegistry } from '../catalog/channels/channel-registry.js';
import type { OperatorWithGateways } from '../operator/operator.js';
import { importCodes, setFulfilment, setLowStock } from '../operator/provisioning/benefits.js';
import { setCallback, setLimits } from '../operator/provisioning/channel-settings.js';
import { createChannel } from '../operator/provisioning/channels.js';
import { authorizePaymentChannel } from '../operator/provisioning/payment-channel-authorizations.js';
import { createPaymentChannel } from '../operator/provisioning/payment-channels.js';
import { authorizeProduct, createProduct } from '../operator/provisioning/products.js';
import { BENEFITS, CHANNELS, PAYMENT_CHANNELS, PRODUCTS, type ProductName, type StoryChannel } from './cast.js';
import { stampProvisioning } from './demo-sql.js';

/** A channel of the story as it stands in the database. */
export interface StagedChannel extends StoryChannel {
  readonly channel: Channel;
}

/** What was provisioned for the story. */
export interface Provisioned {
  readonly channels: readonly StagedChannel[];
  readonly channelIds: readonly number[];
  /** The first one shares agreements. */
  readonly codes: readonly string[];
  readonly productCodes: Readonly<Record<ProductName, string>>;
  readonly coffeeCode: string;
  readonly ticketCode: string;
}

/** Fewer codes than this are a low stock. */
const LOW_STOCK = 40;

/** The names of the story's nth telling: what is told again has a number behind its codes. */
export const nameOf = (code: string, telling: number) => (telling === 1 ? code : `${code}_${telling}`);
export const appIdOf = ({ appId }: StoryChannel, telling: number) => nameOf(appId, telling);

export async function provisionStory(operator: OperatorWithGateways, telling: number): Promise<Provisioned> {
  const name = (code: string) => nameOf(code, telling);
  const codes: string[] = [];
  for (const { code, ...fields } of PAYMENT_CHANNELS) {
    codes.push(name(code));
    await createPaymentChannel(operator, { code: name(code), gateway: 'sandbox', ...fields });
  }
  const benefitCodes = await setUpBenefits(operator, telling);
  const productCodes = {} as Record<ProductName, string>;
  for (const [key, product] of Object.entries(PRODUCTS)) {
    productCodes[key as ProductName] = name(product.productCode);
    const benefits = product.benefits.map(({ benefitCode, ...benefit }) => ({
      ...benefit,
      benefitCode: name(benefitCode),
    }));
    await createProduct(operator, {
      ...product,
      productCode: name(product.productCode),
      benefits: benefits.map(({ kind: _, ...benefit }) => benefit),
    });
  }
  const channels: StagedChannel[] = [];
  for (const cast of CHANNELS)
    channels.push(await setUpChannel(operator, cast, telling, codes, Object.values(productCodes)));
  const channelIds = channels.map(({ channel }) => channel.channelId);
  await stampProvisioning(operator.database, { channelIds, products: Object.values(productCodes), codes });
  return { channels, channelIds, codes, productCodes, ...benefitCodes };
}

async function setUpBenefits(operator: OperatorWithGateways, telling: number) {
  const coffeeCode = nameOf(BENEFITS.coffee.benefitCode, telling);
  const ticketCode = nameOf(BENEFITS.ticket.benefitCode, telling);
  await setFulfilment(operator, { benefitCode: coffeeCode, kind: 'pool' });
  await setLowStock(operator, { benefitCode: coffeeCode, lowStock: LOW_STOCK });
  await setFulfilment(operator, {
    benefitCode: ticketCode,
    kind: 'supplier',
    supplierUrl: 'https://tickets.cinema-supply.example/v1',
    supplierKey: randomBytes(32),
  });
  return { coffeeCode, ticketCode };
}

async function setUpChannel(
  operator: OperatorWithGateways,
  cast: StoryChannel,
  telling: number,
  codes: readonly string[],
  productCodes: readonly string[],
): Promise<StagedChannel> {
  const appId = appIdOf(cast, telling);
  await createChannel(operator, { appId, name: cast.name });
  if (cast.receiver !== 'has-no-address') await setCallback(operator, { appId, url: cast.address });
  for (const [index, code] of codes.entries()) {
    await authorizePaymentChannel(operator, { appId, code, isDefault: index === 0, shareEnabled: index === 0 });
  }
  for (const productCode of productCodes) await authorizeProduct(operator, { appId, productCode });
  await setLimits(operator, { appId, ratePerSecond: 50, rateBurst: 200 });
  const channel = await createChannelRegistry(operator.database, operator.vault).get(appId);
  if (!channel) throw new Error(`channel ${appId} was made and is not there`);
  return { ...cast, appId, channel };
}

/** A file of so many new codes for the pool. */
export async function importCoffeeCodes(
  operator: OperatorWithGateways,
  benefitCode: string,
  count: number,
): Promise<number> {
  const codes = Array.from({ length: count }, () => `CF-${randomBytes(6).toString('hex').toUpperCase()}`);
  const file = (async function* () {
    yield Buffer.from(codes.join('\n'));
  })();
  const { served } = await importCodes(operator, { benefitCode, file });
  return served;
}
