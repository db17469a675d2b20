import { openEmbedded } from '@perennial/embedded-postgres';
import { findChannel } from '../dist/catalog/channels/channels-sql.js';
import { createChannel } from '../dist/operator/provisioning/channels.js';
import { authorizePaymentChannel } from '../dist/operator/provisioning/payment-channel-authorizations.js';
import { createPaymentChannel, updatePaymentChannel } from '../dist/operator/provisioning/payment-channels.js';
import { authorizeProduct, listProducts } from '../dist/operator/provisioning/products.js';
import { openDatabaseFromSettings } from '../dist/platform/installation/open-database.js';
import { readSettings } from '../dist/platform/settings.js';
import { BRIDGE, rowNamed } from './rows.mjs';
import { call } from './signed.mjs';

const APP_ID = 'test_bench';
/** The highest limit an operator can set: it is checked for every request and refuses none. */
const RATE = { ratePerSecond: 1_000_000, rateBurst: 10_000_000 };

/** Opens the running service's database, with the dependencies of an operator's commands. */
export async function openBeside(dataDir) {
  const embedded = await openEmbedded({ dataDir, role: 'tool', log: () => undefined });
  const settings = readSettings({ DATA_DIR: dataDir, DATABASE_URL: embedded.url });
  const { database, vault, close } = await openDatabaseFromSettings(settings, { role: 'tool', log: () => undefined });
  return {
    database,
    vault,
    url: embedded.url,
    operator: { database, vault, environment: settings.environment, actor: 'bench' },
    async close() {
      await close();
      await embedded.release();
    },
  };
}

/** Creates a channel for the bench with every product of the demo. */
export async function provisionChannel({ operator, database }, appId = APP_ID) {
  const { appSecret, aesKey, callbackSecret } = await createChannel(operator, {
    appId,
    name: 'Bench',
    ...RATE,
  });
  for (const { productCode } of await listProducts(operator)) {
    await authorizeProduct(operator, { appId, productCode });
  }
  const { channelId, tokenEpoch } = await findChannel(database, appId);
  return { appId, appSecret, aesKey, callbackSecret, channelId, tokenEpoch };
}

/**
 * Creates the payment channel before the institution starts, because the institution needs the channel's key. Sets the
 * institution's URL afterwards.
 */
export async function provisionInstitution({ operator }, start) {
  const unknown = 'http://127.0.0.1:1/';
  const { gatewayKey } = await createPaymentChannel(operator, {
    code: BRIDGE,
    displayName: 'Bench bank',
    gateway: 'bridge',
    gatewayUrl: unknown,
    supportedBanks: ['*'],
  });
  const { pid, url } = await start(gatewayKey);
  await updatePaymentChannel(operator, { code: BRIDGE, gatewayUrl: url });
  await authorizePaymentChannel(operator, { appId: APP_ID, code: BRIDGE, shareEnabled: true });
  return pid;
}

export async function tokenOf(baseUrl, channel) {
  const { data } = JSON.parse(await call(baseUrl, rowNamed('auth/token x1'), channel));
  return data.accessToken;
}
