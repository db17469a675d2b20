import { randomBytes } from 'node:crypto';
import type { Channel } from '../../src/catalog/channels/channel.js';
import { createChannelRegistry } from '../../src/catalog/channels/channel-registry.js';
import type { Operator } from '../../src/operator/operator.js';
import { createChannel } from '../../src/operator/provisioning/channels.js';
import { authorizePaymentChannel } from '../../src/operator/provisioning/payment-channel-authorizations.js';
import { createPaymentChannel } from '../../src/operator/provisioning/payment-channels.js';
import { createProduct } from '../../src/operator/provisioning/products.js';
import { createKeyedHasher } from '../../src/platform/secrets/keyed-hasher.js';
import { openVault } from '../../src/platform/secrets/vault.js';
import { insertAgreement, takeAgreementId } from '../../src/subscriptions/store/agreements/agreements-sql.js';
import { formatAgreementNo, sealCard, sealInstitutionNo } from '../../src/subscriptions/store/agreements/card.js';
import { spawnInstitution, temporaryFolder } from '../institution/support.js';
import type { FreshDatabase } from './database.js';
import { freePort } from './free-port.js';
import { type KeptAlive, keptAlive } from './kept-alive.js';

/** An installation with a channel, daily products, and nodes as separate processes. */
export interface RenewalWorld {
  readonly channelId: number;
  /** Creates a daily product whose failed debits are retried after these delays in seconds. */
  product(productCode: string, totalCycles: number, retryDelays: readonly number[]): Promise<void>;
  node(): Promise<KeptAlive>;
}

export const AMOUNT_CENT = 1990;

export async function renewalWorld(fresh: FreshDatabase): Promise<RenewalWorld & { bridge(): Promise<Bridge> }> {
  const { database } = fresh;
  const masterKey = randomBytes(32);
  const vault = openVault([masterKey]);
  const operator: Operator = { database, vault, environment: 'sandbox', actor: 'test' };
  const { appId } = await createChannel(operator, { name: 'Renewals' });
  const channel = await createChannelRegistry(database, vault).get(appId);
  if (!channel) throw new Error('a channel that was made is there');
  /** The port of the first node, to which the institution sends its notices. */
  const firstPort = await freePort();
  let nodes = 0;
  return {
    channelId: channel.channelId,
    async product(productCode, totalCycles, retryDelays) {
      await createProduct(operator, {
        productCode,
        productName: productCode,
        settlementModes: ['SVC_DEDUCT', 'CHANNEL_COLLECT'],
        periodType: 'DAY',
        period: 1,
        totalCycles,
        amountCent: AMOUNT_CENT,
        benefits: [{ benefitCode: 'PASS', name: 'Pass', faceValueCent: AMOUNT_CENT }],
      });
      // Sets the delays in the database, because they are shorter than an operator may choose.
      await database.query('update products set retry_delays = $2 where product_code = $1', [productCode, retryDelays]);
    },
    async node() {
      nodes += 1;
      const port = nodes === 1 ? firstPort : await freePort();
      return keptAlive({
        DATABASE_URL: fresh.url,
        MASTER_KEY: masterKey.toString('base64'),
        PORT: String(port),
        LOG_LEVEL: 'silent',
      });
    },
    bridge: () => bridgeOf(operator, channel, firstPort),
  };
}

export interface Bridge {
  readonly url: string;
  /** Creates an agreement whose number ends in `tail`, and returns its id. */
  agreement(tail: string): Promise<number>;
}

async function bridgeOf(operator: Operator, channel: Channel, noticePort: number): Promise<Bridge> {
  const { database, vault } = operator;
  const port = await freePort();
  const { gatewayKey } = await createPaymentChannel(operator, {
    code: 'BRIDGE',
    gateway: 'bridge',
    gatewayUrl: `http://127.0.0.1:${port}`,
    displayName: 'Bridge',
    supportedBanks: ['*'],
  });
  await authorizePaymentChannel(operator, { appId: channel.appId, code: 'BRIDGE', isDefault: true });
  const { url } = await spawnInstitution({
    port,
    key: gatewayKey,
    dataDir: await temporaryFolder(),
    noticeUrl: `http://127.0.0.1:${noticePort}/gateway/v1/notices/BRIDGE`,
    delays: { settleMs: 500, lateNoticeMs: 100, noticeRetryMs: 100, longestNoticeRetryMs: 500, answerMs: 9_000 },
  });
  const numbers = createKeyedHasher(database, vault, 'institution numbers');
  return {
    url,
    async agreement(tail) {
      const agreementId = await takeAgreementId(database);
      const number = `shared-${agreementId}-${tail}`;
      const card = {
        bankCardNo: '6222020000001234567',
        certificateNo: '110101199001011234',
        certType: 'ID_CARD',
        realName: '张三',
        bankMobile: '13800000001',
      };
      await insertAgreement(database, {
        agreementId,
        channelId: channel.channelId,
        channelUserId: 'user',
        paymentChannelCode: 'BRIDGE',
        source: 'SHARED_FROM_CHANNEL',
        status: 'BIND_SUCCESS',
        agreementNo: formatAgreementNo(agreementId),
        institutionNo: sealInstitutionNo(channel, agreementId, number),
        institutionHash: await numbers.hash(number),
        createdAt: 0,
        ...sealCard(channel, agreementId, card, undefined),
      });
      return agreementId;
    },
  };
}
