import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listAudit } from '../../src/operator/audit.js';
import type { Operator } from '../../src/operator/operator.js';
import { createChannel } from '../../src/operator/provisioning/channels.js';
import {
  authorizeProduct,
  createProduct,
  listProducts,
  showProduct,
} from '../../src/operator/provisioning/products.js';
import { type FreshDatabase, freshDatabase } from '../support/database.js';
import { operatorOn, PRODUCT } from './support.js';

let fresh: FreshDatabase;
let operator: Operator;

beforeAll(async () => {
  fresh = await freshDatabase();
  operator = operatorOn(fresh.database);
});
afterAll(() => fresh.close());

const HOUR = 3600;
const DAY = 24 * HOUR;

describe('a product', () => {
  it('keeps its benefits in the order given, and is in the audit table as it was made', async () => {
    const benefits = ['ZEBRA', 'APPLE', 'MANGO'].map((benefitCode, i) => ({
      benefitCode,
      name: benefitCode.toLowerCase(),
      faceValueCent: i * 1000,
    }));
    const input = { ...PRODUCT, productCode: 'ORDERED', benefits, retryDelays: [DAY, HOUR] };
    const made = await createProduct(operator, input);
    expect(made).toMatchObject({ ...input, channels: [] });
    expect(await showProduct(operator, { productCode: 'ORDERED' })).toEqual(made);
    const { productCode, ...detail } = input;
    expect(await listAudit(operator, { subject: productCode })).toMatchObject([{ action: 'product.create', detail }]);
  });

  it.each([
    ['DAY', [1 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR]],
    ['MONTH', [1 * DAY, 3 * DAY, 5 * DAY, 7 * DAY]],
  ])('of the period type %s is retried as usual', async (periodType, retryDelays) => {
    const made = await createProduct(operator, { ...PRODUCT, productCode: `USUAL_${periodType}`, periodType });
    expect(made.retryDelays).toEqual(retryDelays);
  });

  it('may have the longest course, no benefits, no retries, and in the sandbox both modes', async () => {
    const made = await createProduct(operator, {
      ...PRODUCT,
      productCode: 'EXTREME',
      totalCycles: 9999,
      amountCent: 100_000_000_000,
      benefits: [],
      retryDelays: [],
      settlementModes: ['SVC_DEDUCT', 'CHANNEL_COLLECT'],
    });
    expect(made).toMatchObject({ totalCycles: 9999, amountCent: 100_000_000_000, benefits: [], retryDelays: [] });
  });

  it('says which channels sell it', async () => {
    await createProduct(operator, { ...PRODUCT, productCode: 'SOLD' });
    for (const appId of ['test_b', 'test_a']) {
      await createChannel(operator, { name: appId, appId });
      await authorizeProduct(operator, { appId, productCode: 'SOLD' });
    }
    const sold = (await listProducts(operator)).find(({ productCode }) => productCode === 'SOLD');
    expect(sold?.channels).toEqual(['test_a', 'test_b']);
  });
});
