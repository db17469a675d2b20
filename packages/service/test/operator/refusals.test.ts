import { beforeAll, describe, expect, it } from 'vitest';
import { listAudit } from '../../src/operator/audit/audit.js';
import { type Operator, OperatorError } from '../../src/operator/operator.js';
import { setCallback, setLimits } from '../../src/operator/provisioning/channel-settings.js';
import { createChannel, resetCredentials } from '../../src/operator/provisioning/channels.js';
import { provisionDemo } from '../../src/operator/provisioning/demo.js';
import { authorizePaymentChannel } from '../../src/operator/provisioning/payment-channel-authorizations.js';
import { createPaymentChannel, updatePaymentChannel } from '../../src/operator/provisioning/payment-channels.js';
import { authorizeProduct, createProduct } from '../../src/operator/provisioning/products.js';
import { ofFile } from '../orders/stage-of-file.js';
import { freshDatabase } from '../support/database.js';
import { dump, operatorOn, PAYMENT_CHANNEL, PRODUCT, stock } from './support.js';

const fresh = ofFile(freshDatabase);

beforeAll(async () => {
  const operator = operatorOn(fresh.database);
  await stock(operator);
  await createChannel(operator, { name: 'There', appId: 'test_there' });
  await createPaymentChannel(operator, {
    ...PAYMENT_CHANNEL,
    code: 'BRIDGE',
    gateway: 'bridge',
    gatewayUrl: 'https://bridge.example/',
  });
});

const appId = 'test_there';
const product = (more: object) => (operator: Operator) =>
  createProduct(operator, { ...PRODUCT, productCode: 'NEW', ...more });
const payment = (more: object) => (operator: Operator) =>
  createPaymentChannel(operator, { ...PAYMENT_CHANNEL, code: 'NEW', ...more });
const benefit = (more: object) => product({ benefits: [{ ...PRODUCT.benefits[0], ...more }] });
const bridge = (gatewayUrl: string) => payment({ gateway: 'bridge', gatewayUrl });

type Refusal = readonly [name: string, run: (operator: Operator) => Promise<unknown>, reason: RegExp];

/** Refused operations. The tests of the command line cover further refusals. */
const REFUSALS: readonly Refusal[] = [
  ['a channel with a long name', (o) => createChannel(o, { name: '名'.repeat(201) }), /name must have 1 to 200/],
  ['an app id in capitals', (o) => createChannel(o, { name: 'x', appId: 'test_A' }), /3 to 64 characters/],
  ['a short app id', (o) => createChannel(o, { name: 'x', appId: 'te' }), /3 to 64 characters/],
  ['a long app id', (o) => createChannel(o, { name: 'x', appId: `test_${'a'.repeat(60)}` }), /3 to 64 characters/],
  ['no requests per second', (o) => createChannel(o, { name: 'x', ratePerSecond: 0 }), /whole number from 1/],
  ['half a request per second', (o) => createChannel(o, { name: 'x', ratePerSecond: 1.5 }), /whole number from 1/],
  ['limits that are too high', (o) => setLimits(o, { appId, ratePerSecond: 1_000_001 }), /to 1000000/],
  ['a burst that is too high', (o) => setLimits(o, { appId, ratePerSecond: 1, rateBurst: 1e9 }), /to 10000000/],
  ['a reset of nothing', (o) => resetCredentials(o, { appId, names: [] }), /no credential/],
  ['a reset of one thing twice', (o) => resetCredentials(o, { appId, names: ['aesKey', 'aesKey'] }), /given twice/],

  ['a long product code', product({ productCode: 'A'.repeat(65) }), /product code must be/],
  ['a product without a name', product({ productName: '' }), /product name/],
  ['a product without a mode', product({ settlementModes: [] }), /needs a settlement mode/],
  ['a mode twice', product({ settlementModes: ['SVC_DEDUCT', 'SVC_DEDUCT'] }), /given twice/],
  ['weeks', product({ periodType: 'WEEK' }), /period type must be DAY or MONTH/],
  ['a period of nothing', product({ period: 0 }), /period must be/],
  ['no cycles', product({ totalCycles: 0 }), /cycles must be/],
  ['cycles past the year 9999', product({ totalCycles: 9999, period: 12 }), /more than 7000 years/],
  ['a product for nothing', product({ amountCent: 0 }), /amount in cents/],
  ['a fraction of a cent', product({ amountCent: 19.9 }), /amount in cents/],
  ['no number at all', product({ amountCent: Number.NaN }), /amount in cents/],
  ['an endless price', product({ amountCent: 1e30 }), /amount in cents/],
  [
    'one benefit twice',
    product({ benefits: [PRODUCT.benefits[0], PRODUCT.benefits[0]] }),
    /benefit "VIP" is given twice/,
  ],
  ['a benefit code in small letters', benefit({ benefitCode: 'vip' }), /benefit code must be/],
  ['a benefit without a name', benefit({ name: '' }), /name of a benefit/],
  ['a benefit of less than nothing', benefit({ faceValueCent: -1 }), /face value/],
  ['a retry after 59 seconds', product({ retryDelays: [59] }), /before a retry/],
  ['a retry after 31 days', product({ retryDelays: [31 * 86_400] }), /before a retry/],
  ['eleven retries', product({ retryDelays: Array(11).fill(60) }), /at most 10/],
  ['a sale by nobody', (o) => authorizeProduct(o, { appId: 'test_none', productCode: 'MONTHLY' }), /no channel/],

  ['a payment code in small letters', payment({ code: 'new' }), /payment channel code must be/],
  ['a payment channel without a name', payment({ displayName: '' }), /display name/],
  ['no banks', payment({ supportedBanks: [] }), /banks must be/],
  ['every bank and one more', payment({ supportedBanks: ['*', 'ICBC'] }), /give it alone/],
  ['a bank twice', payment({ supportedBanks: ['ICBC', 'ICBC'] }), /given twice/],
  ['a bank in small letters', payment({ supportedBanks: ['icbc'] }), /bank code must be/],
  ['a sandbox gateway with an address', payment({ gatewayUrl: 'https://a.example' }), /takes no address/],
  ['a bridge over http', bridge('http://bridge.example/'), /must start with https/],
  ['a bridge that is no address', bridge('bridge'), /not a complete address/],
  ['a bridge with a password', bridge('https://a:b@bridge.example/'), /user name or password/],
  ['a bridge with a fragment', bridge('https://bridge.example/#x'), /fragment/],
  ['no debits per second', payment({ debitsPerSecond: 0 }), /debits per second/],
  ['no debit hours', payment({ debitHours: { from: 8, to: 8 } }), /are empty/],
  ['the 25th hour', payment({ debitHours: { from: 8, to: 25 } }), /debits end/],
  ['the hour 24 as the first', payment({ debitHours: { from: 24, to: 8 } }), /first debit hour/],
  ['an update to no banks', (o) => updatePaymentChannel(o, { code: 'PAY', supportedBanks: [] }), /banks must be/],
  ['a bridge losing its address', (o) => updatePaymentChannel(o, { code: 'BRIDGE', gatewayUrl: null }), /needs an/],
  ['use by nobody', (o) => authorizePaymentChannel(o, { appId: 'test_none', code: 'PAY' }), /no channel/],
  ['an endless audit list', (o) => listAudit(o, { limit: 1001 }), /limit must be/],
];

const PRODUCTION_REFUSALS: readonly Refusal[] = [
  ['a test_ app id', (o) => createChannel(o, { name: 'x', appId: 'test_x' }), /must not start with test_/],
  ['both modes', product({ settlementModes: ['SVC_DEDUCT', 'CHANNEL_COLLECT'] }), /exactly one/],
  ['the sandbox gateway', payment({}), /only in the sandbox/],
  ['a bridge on this machine', bridge('http://127.0.0.1:1/'), /must start with https/],
  ['a callback to this machine', (o) => setCallback(o, { appId, url: 'http://localhost:1/' }), /https:/],
  ['the demo', (o) => provisionDemo(o, { dataDir: '/nonexistent', baseUrl: '' }), /only in the sandbox/],
];

async function expectRefusal(operator: Operator, run: Refusal[1], reason: RegExp): Promise<void> {
  const before = await dump(fresh.database);
  const error = await run(operator).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(OperatorError);
  expect(error).toMatchObject({ message: expect.stringMatching(reason) });
  expect(error).toMatchObject({ message: expect.not.stringContaining('\n') });
  expect(await dump(fresh.database)).toBe(before);
}

describe('refused in one line, with nothing written to any table', () => {
  it.each(REFUSALS)('%s', async (_, run, reason) => {
    await expectRefusal(operatorOn(fresh.database), run, reason);
  });

  it.each(PRODUCTION_REFUSALS)('in production: %s', async (_, run, reason) => {
    await expectRefusal(operatorOn(fresh.database, { environment: 'production', localCallbacks: true }), run, reason);
  });
});
