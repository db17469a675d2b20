import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listAudit } from '../../src/operator/audit/audit.js';
import type { Operator } from '../../src/operator/operator.js';
import { resetCredentials, showChannel, suspendChannel } from '../../src/operator/provisioning/channels.js';
import { provisionDemo } from '../../src/operator/provisioning/demo.js';
import { withdrawPaymentChannel } from '../../src/operator/provisioning/payment-channel-authorizations.js';
import { listPaymentChannels, updatePaymentChannel } from '../../src/operator/provisioning/payment-channels.js';
import { listProducts } from '../../src/operator/provisioning/products.js';
import { type FreshDatabase, freshDatabase } from '../support/database.js';
import { dump, operatorOn } from './support.js';

const baseUrl = 'http://127.0.0.1:8080';
let fresh: FreshDatabase;
let operator: Operator;
let root: string;
let dataDir: string;

beforeEach(async () => {
  fresh = await freshDatabase();
  operator = operatorOn(fresh.database, { actor: 'service:first-start' });
  root = await mkdtemp(path.join(os.tmpdir(), 'perennial-demo-'));
  dataDir = path.join(root, 'data');
});
afterEach(async () => {
  await fresh.close();
  await rm(root, { recursive: true });
});

const provision = () => provisionDemo(operator, { dataDir, baseUrl });
const content = async (file: string): Promise<unknown> => JSON.parse(await readFile(file, 'utf8'));

describe('the demo', () => {
  it('creates the products, payment channels and channel of the sandbox, and a private file with the credentials', async () => {
    const file = await provision();
    expect(await listProducts(operator)).toMatchObject([
      {
        productCode: 'TEST_SPU_001',
        settlementModes: ['SVC_DEDUCT', 'CHANNEL_COLLECT'],
        periodType: 'MONTH',
        period: 1,
        totalCycles: 12,
        amountCent: 1990,
        benefits: [
          { benefitCode: 'VIP_PASS', faceValueCent: 1500 },
          { benefitCode: 'COUPON', faceValueCent: 490 },
        ],
      },
      {
        productCode: 'TEST_SPU_DAILY_7',
        settlementModes: ['SVC_DEDUCT', 'CHANNEL_COLLECT'],
        periodType: 'DAY',
        period: 1,
        totalCycles: 7,
        amountCent: 100,
        benefits: [{ benefitCode: 'DAY_PASS', faceValueCent: 100 }],
      },
      { productCode: 'TEST_SPU_FOREIGN' },
      { productCode: 'TEST_SPU_ONCE', totalCycles: 1, amountCent: 2490 },
    ]);
    expect(await listPaymentChannels(operator)).toMatchObject([
      { code: 'MOCKBANK', gateway: 'sandbox', supportedBanks: ['ICBC', 'CCB'], bankCodeRequired: true },
      { code: 'MOCKPAY', gateway: 'sandbox', supportedBanks: ['*'], bankCodeRequired: false },
    ]);
    expect(await showChannel(operator, { appId: 'test_demo' })).toMatchObject({
      products: ['TEST_SPU_001', 'TEST_SPU_DAILY_7', 'TEST_SPU_ONCE'],
      paymentChannels: [
        { code: 'MOCKBANK', isDefault: false, shareEnabled: false },
        { code: 'MOCKPAY', isDefault: true, shareEnabled: true },
      ],
    });
    expect(file).toBe(path.join(dataDir, 'demo-channel.json'));
    const secret = expect.stringMatching(/^[A-Za-z0-9+/]{43}=$/);
    expect(await content(file)).toEqual({
      appId: 'test_demo',
      appSecret: secret,
      aesKey: secret,
      callbackSecret: secret,
      baseUrl,
      products: ['TEST_SPU_001', 'TEST_SPU_DAILY_7', 'TEST_SPU_ONCE'],
      paymentChannels: ['MOCKPAY', 'MOCKBANK'],
    });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await stat(dataDir)).mode & 0o777).toBe(0o700);
    // Simulates a crash before the file was written.
    const first = await content(file);
    await rm(file);
    expect(await content(await provision())).toEqual(first);
  });

  it('is created once by ten concurrent nodes, and all read the same', async () => {
    const files = await Promise.all(Array.from({ length: 10 }, provision));
    expect(new Set(files).size).toBe(1);
    expect(await readdir(dataDir)).toEqual(['demo-channel.json']);
    expect(await listAudit(operator, { subject: 'test_demo' })).toHaveLength(6);
    expect(await fresh.database.query('select app_id from channels')).toEqual([{ app_id: 'test_demo' }]);
  });

  it('keeps the changes of operators, and only the file is updated', async () => {
    const file = await provision();
    const first = await content(file);
    const reset = await resetCredentials(operator, { appId: 'test_demo', names: ['appSecret'] });
    await suspendChannel(operator, { appId: 'test_demo' });
    await withdrawPaymentChannel(operator, { appId: 'test_demo', code: 'MOCKBANK' });
    await updatePaymentChannel(operator, { code: 'MOCKPAY', displayName: 'Renamed' });
    const before = await dump(fresh.database);
    await provision();
    expect(await dump(fresh.database)).toBe(before);
    expect(await content(file)).toEqual({
      ...(first as object),
      appSecret: reset.appSecret,
      paymentChannels: ['MOCKPAY'],
    });
  });
});
