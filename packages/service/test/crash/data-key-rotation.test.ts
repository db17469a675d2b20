import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { createChannelRegistry } from '../../src/catalog/channels/channel-registry.js';
import { createChannel, rotateDataKey } from '../../src/operator/provisioning/channels.js';
import { authorizeProduct, createProduct } from '../../src/operator/provisioning/products.js';
import { claimInstallation } from '../../src/platform/installation/installation.js';
import { createUserRow, unsealUserMobile } from '../../src/subscriptions/steps/users/login-mobile.js';
import { PRODUCT } from '../operator/support.js';
import { ofFile } from '../orders/stage-of-file.js';
import { channelClient } from '../support/channel-client.js';
import { freshDatabase } from '../support/database.js';
import { collectRequest, mobileOf } from '../support/demo.js';
import { freePort } from '../support/free-port.js';
import { keptAlive } from '../support/kept-alive.js';
import { MAIN, until } from '../support/processes.js';

const USERS = 6_000;
const MAX_KILLS = 3;
const PATIENCE_MS = 240_000;
const fresh = ofFile(freshDatabase);

it('no value is lost if the node is killed again and again while it replaces a data key and sells', async () => {
  const masterKey = randomBytes(32);
  const { database } = fresh;
  const vault = await claimInstallation(database, 'sandbox', { local: [masterKey] });
  const operator = { database, vault, environment: 'sandbox', actor: 'test' } as const;
  const product = { ...PRODUCT, settlementModes: ['CHANNEL_COLLECT'] };
  await createProduct(operator, product);
  const credentials = await createChannel(operator, { name: 'Crash', ratePerSecond: 100_000 });
  const { appId } = credentials;
  await authorizeProduct(operator, { appId, productCode: product.productCode });
  const load = async () => {
    const channel = await createChannelRegistry(database, vault).get(appId);
    if (!channel) throw new Error('the channel is there');
    return channel;
  };
  const before = await load();
  const rows = Array.from({ length: USERS }, (_, n) => createUserRow(before, `user-${n}`, mobileOf(`user-${n}`)));
  await database.query(
    `insert into channel_users (channel_id, channel_user_id, mobile_hash, mobile)
     select $1, u.id, decode(u.hash, 'hex'), u.mobile from unnest($2::text[], $3::text[], $4::text[]) u(id, hash, mobile)`,
    [
      before.channelId,
      rows.map(({ channelUserId }) => channelUserId),
      rows.map(({ mobileHash }) => mobileHash.toString('hex')),
      rows.map(({ mobile }) => mobile),
    ],
  );
  const port = await freePort();
  const settings = { DATABASE_URL: fresh.url, MASTER_KEY: masterKey.toString('base64'), PORT: String(port) };
  const node = keptAlive({ ...settings, LOG_LEVEL: 'silent' }, MAIN);
  const client = channelClient(`http://127.0.0.1:${port}`, credentials);
  await until('the node serves', () =>
    fetch(`http://127.0.0.1:${port}/healthz`).then(
      () => true,
      () => false,
    ),
  );
  await rotateDataKey(operator, { appId });
  await database.query('update data_key_rotations set not_before = now()');

  // Each new position of the round is a point at which the node is killed, up to MAX_KILLS kills.
  const position = async () => {
    const [row] = await database.query<{ at: string }>(
      `select stage || ' ' || coalesce(after_row, '') || ' ' || is_last as at from data_key_rotations`,
    );
    return row?.at;
  };
  let sold = 0;
  const sell = async () => {
    const channelUserId = `buyer-${sold}`;
    const request = { channelUserId, externalOrderNo: `order-${sold}`, productCode: product.productCode };
    const reply = await client.call('orders/create', collectRequest(client, request)).catch(() => undefined);
    if (reply?.code === '0') sold += 1;
  };
  let last = await position();
  await until(
    'the round is over, after the kills',
    async () => {
      await sell();
      // The next round follows at once, not in a quarter of an hour.
      await database.query('update data_key_rotations set not_before = now() where not_before > now() and not is_last');
      const at = await position();
      if (node.kills() < MAX_KILLS && at !== last) {
        last = at;
        node.kill();
        await until('another process', () => node.kills() > 0 && node.pid() > 0);
      }
      return at?.endsWith('true') === true;
    },
    PATIENCE_MS,
  );
  expect(node.kills()).toBeGreaterThan(0);
  await database.query(
    `update data_key_rotations set not_before = now(), switched_at = switched_at - interval '1 day'`,
  );
  await until('the former key is deleted', async () => {
    await sell();
    await database.query('update data_key_rotations set not_before = now()');
    return (await position()) === undefined;
  });
  await until('more is sold', async () => {
    await sell();
    return sold >= 20;
  });

  const after = await load();
  const stored = await database.query<{ channelUserId: string; mobile: string }>(
    'select channel_user_id as "channelUserId", mobile from channel_users',
  );
  expect(stored.length).toBeGreaterThanOrEqual(USERS + sold);
  for (const user of stored) {
    expect(unsealUserMobile(after, user)).toBe(mobileOf(user.channelUserId));
    expect(() => unsealUserMobile(before, user)).toThrow('does not open');
  }
}, 300_000);
