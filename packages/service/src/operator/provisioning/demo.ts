import { randomBytes } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { openChannelKeys } from '../../catalog/channels/channel-keys.js';
import { findChannel } from '../../catalog/channels/channels-sql.js';
import { openCredentials } from '../../catalog/channels/credentials.js';
import { describePaymentChannels } from '../../catalog/payment-channels/payment-channel-provisioning-sql.js';
import { hasProduct } from '../../catalog/products/product-provisioning-sql.js';
import { statement } from '../../platform/db/statement.js';
import { inTransaction, type Operator, OperatorError } from '../operator.js';
import { requireChannelView } from './channel-change.js';
import { createChannel } from './channels.js';
import { authorizePaymentChannel } from './payment-channel-authorizations.js';
import { createPaymentChannel } from './payment-channels.js';
import { authorizeProduct, createProduct } from './products.js';

const APP_ID = 'test_demo';
/** The key of an advisory lock: an arbitrary number, the same on every node. */
const DEMO_LOCK = 7_366_373_663;

const PRODUCTS = [
  {
    productCode: 'TEST_SPU_001',
    productName: 'Monthly membership',
    settlementModes: ['SVC_DEDUCT', 'CHANNEL_COLLECT'],
    periodType: 'MONTH',
    period: 1,
    totalCycles: 12,
    amountCent: 1990,
    benefits: [
      { benefitCode: 'VIP_PASS', name: 'VIP pass', faceValueCent: 1500 },
      { benefitCode: 'COUPON', name: 'Coupon', faceValueCent: 490 },
    ],
  },
  {
    productCode: 'TEST_SPU_DAILY_7',
    productName: 'Seven days',
    settlementModes: ['SVC_DEDUCT', 'CHANNEL_COLLECT'],
    periodType: 'DAY',
    period: 1,
    totalCycles: 7,
    amountCent: 100,
    benefits: [{ benefitCode: 'DAY_PASS', name: 'Day pass', faceValueCent: 100 }],
  },
  {
    productCode: 'TEST_SPU_ONCE',
    productName: 'One month',
    settlementModes: ['SVC_DEDUCT', 'CHANNEL_COLLECT'],
    periodType: 'MONTH',
    period: 1,
    totalCycles: 1,
    amountCent: 2490,
    benefits: [{ benefitCode: 'MONTH_PASS', name: 'Month pass', faceValueCent: 2490 }],
  },
];

/** A product for which the demo channel is not authorized, so that its developer can cause 420006. */
const FOREIGN_PRODUCT = {
  productCode: 'TEST_SPU_FOREIGN',
  productName: 'Not for the demo channel',
  settlementModes: ['SVC_DEDUCT', 'CHANNEL_COLLECT'],
  periodType: 'MONTH',
  period: 1,
  totalCycles: 12,
  amountCent: 1990,
  benefits: [],
};

const PAYMENT_CHANNELS = [
  {
    channel: { code: 'MOCKPAY', displayName: 'Mock Pay', gateway: 'sandbox', supportedBanks: ['*'] },
    authorization: { isDefault: true, shareEnabled: true },
  },
  {
    channel: {
      code: 'MOCKBANK',
      displayName: 'Mock Bank',
      gateway: 'sandbox',
      supportedBanks: ['ICBC', 'CCB'],
      bankCodeRequired: true,
    },
    authorization: { isDefault: false, shareEnabled: false },
  },
];

interface ProvisionDemoInput {
  readonly dataDir: string;
  readonly baseUrl: string;
}

const LOCK_DEMO = statement({
  text: 'select pg_advisory_xact_lock($1)',
  parameters: ['bigint'],
});

/**
 * Creates a demo channel with products, at the first start of a sandbox only, so that operators' later changes are
 * kept. Writes the credentials to a file at every start, and returns its path. The file is therefore up to date after a
 * reset of the credentials, and exists even if an earlier start crashed before writing it.
 */
export async function provisionDemo(operator: Operator, { dataDir, baseUrl }: ProvisionDemoInput): Promise<string> {
  if (operator.environment !== 'sandbox') {
    throw new OperatorError('the demo channel exists only in the sandbox environment');
  }
  await inTransaction(operator, async (tx, joined) => {
    await tx.query(LOCK_DEMO, [DEMO_LOCK]);
    if (!(await findChannel(tx, APP_ID))) await createDemo(joined);
  });
  const row = await findChannel(operator.database, APP_ID);
  if (!row) throw new OperatorError(`the channel ${APP_ID} has just been removed`);
  const { dataKey } = await openChannelKeys(operator.database, operator.vault, row);
  const { appSecret, aesKey, callbackSecret } = openCredentials(dataKey, APP_ID, row);
  const { products, paymentChannels } = await requireChannelView(operator.database, APP_ID);
  return writePrivateFile(dataDir, 'demo-channel.json', {
    appId: APP_ID,
    appSecret: Buffer.from(appSecret).toString('base64'),
    aesKey: Buffer.from(aesKey).toString('base64'),
    callbackSecret: Buffer.from(callbackSecret).toString('base64'),
    baseUrl,
    products,
    // The default payment channel comes first: it needs the fewest fields, and simple clients use the first entry.
    paymentChannels: [...paymentChannels]
      .sort((a, b) => Number(b.isDefault) - Number(a.isDefault))
      .map(({ code }) => code),
  });
}

async function createDemo(operator: Operator): Promise<void> {
  await createChannel(operator, { appId: APP_ID, name: 'Demo channel' });
  for (const product of [...PRODUCTS, FOREIGN_PRODUCT]) {
    const { productCode } = product;
    if (!(await hasProduct(operator.database, productCode))) await createProduct(operator, product);
    if (product !== FOREIGN_PRODUCT) await authorizeProduct(operator, { appId: APP_ID, productCode });
  }
  for (const { channel, authorization } of PAYMENT_CHANNELS) {
    const { code } = channel;
    if ((await describePaymentChannels(operator.database, code)).length === 0) {
      await createPaymentChannel(operator, channel);
    }
    await authorizePaymentChannel(operator, { appId: APP_ID, code, ...authorization });
  }
}

/** Writes the file atomically. Only its owner can read it. */
async function writePrivateFile(folder: string, name: string, content: object): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = path.join(folder, name);
  const draft = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`;
  try {
    const handle = await open(draft, 'wx', 0o600);
    try {
      await handle.writeFile(`${JSON.stringify(content, undefined, 2)}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  return file;
}
