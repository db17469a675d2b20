import { findChannel } from '../dist/channels/sql.js';
import { openFromSettings } from '../dist/db/open.js';
import { createChannel } from '../dist/operator/channels.js';
import { authorizeProduct, listProducts } from '../dist/operator/products.js';
import { readSettings } from '../dist/settings.js';
import { rowNamed } from './rows.mjs';
import { call } from './signed.mjs';

const APP_ID = 'test_bench';
/** As high as an operator can set it: the limit is asked for every request and refuses none. */
const RATE = { ratePerSecond: 1_000_000, rateBurst: 10_000_000 };

/** A channel of the bench's own with every product of the demo, made beside the running service as an operator would. */
export async function provisionChannel({ dataDir, baseUrl }) {
  const settings = readSettings({ DATA_DIR: dataDir });
  const { database, vault, close } = await openFromSettings(settings, { role: 'tool', log: () => undefined });
  try {
    const operator = { database, vault, environment: settings.environment, actor: 'bench' };
    const { appSecret } = await createChannel(operator, { appId: APP_ID, name: 'Bench', ...RATE });
    for (const { productCode } of await listProducts(operator)) {
      await authorizeProduct(operator, { appId: APP_ID, productCode });
    }
    const { channelId, tokenEpoch } = await findChannel(database, APP_ID);
    const [{ version }] = await database.query(`select current_setting('server_version') as version`);
    const channel = { appId: APP_ID, appSecret, channelId, tokenEpoch };
    const { data } = JSON.parse(await call(baseUrl, rowNamed('auth/token x1'), channel));
    return { channel: { ...channel, token: data.accessToken }, vault, postgres: version };
  } finally {
    await close();
  }
}
