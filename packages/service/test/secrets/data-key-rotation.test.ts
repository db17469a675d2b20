import { beforeEach, expect, it } from 'vitest';
import { openChannelKeys } from '../../src/catalog/channels/channel-keys.js';
import { createChannelRegistry } from '../../src/catalog/channels/channel-registry.js';
import { findChannel } from '../../src/catalog/channels/channels-sql.js';
import { createSealing } from '../../src/catalog/channels/sealing.js';
import { replaceDataKeys } from '../../src/engine/jobs/data-keys.js';
import { listAudit } from '../../src/operator/audit/audit.js';
import { resetCredentials, rotateDataKey } from '../../src/operator/provisioning/channels.js';
import { search } from '../../src/operator/search/search.js';
import { createUserRow } from '../../src/subscriptions/steps/users/login-mobile.js';
import { askForCode, bind, confirm } from '../agreements/bridged.js';
import { ofEachTest } from '../orders/stage-of-file.js';
import { claimsOf, formOf, stage } from '../redeem/support.js';
import { capturedLog } from '../support/captured-log.js';
import { encrypted, mobileOf } from '../support/demo.js';
import { claimUnbound } from '../support/earlier-version.js';

const CARD = '6222020000001234567';
const on = ofEachTest(async () => {
  const made = await stage();
  return { ...made, log: capturedLog(), close: () => made.service.close() };
});

let user: string;
let page: string;
beforeEach(async () => {
  user = 'annabella';
  await bind(on.channel, { channelUserId: user, bankCardNo: CARD, paymentChannelCode: 'MOCKPAY' });
  const order = await on.order({ channelUserId: user });
  page = order.path;
  const shown = await on.get(page);
  const [claim = ''] = claimsOf(shown).values();
  expect((await on.post('/redeem/claim', { ...formOf(shown), claim })).status).toBe(303);
});

const query = <Row>(text: string, values: readonly unknown[] = []) => on.query<Row>(text, values);
const appId = () => on.channel.credentials.appId;
const rotate = () => rotateDataKey(on.service.operator, { appId: appId() });
/** Runs the job until it waits. */
const work = () => replaceDataKeys({ database: on.service.fresh.database, vault: on.service.vault, log: on.log.log });
const skipWait = () => query('update data_key_rotations set not_before = now()');
const skipDay = () =>
  query(`update data_key_rotations set not_before = now(), switched_at = switched_at - interval '1 day'`);
const rotations = () => query('select from data_key_rotations');

async function dataKey(): Promise<Uint8Array> {
  const row = await findChannel(on.service.fresh.database, appId());
  if (!row) throw new Error('the channel is there');
  return (await openChannelKeys(on.service.fresh.database, on.service.vault, row)).dataKey;
}

/** Expects that a channel, a user and an operator still get every sealed value. */
async function expectServed(): Promise<void> {
  const data = await on.channel.call('agreements/user-data', { channelUserId: user });
  expect(data.data.bankDataList, data.text).toHaveLength(1);
  const byCard = { bankCardNoEncrypted: encrypted(on.channel, CARD) };
  expect((await on.channel.call('agreements/user-data', byCard)).data.bankDataList).toHaveLength(1);
  // The user is recognized by the mobile number, and refused with another number.
  await on.order({ channelUserId: user });
  await expect(
    on.order({ channelUserId: user, mobileEncrypted: encrypted(on.channel, '13911112222') }),
  ).rejects.toThrow('orders/create');
  expect((await on.get(page)).text).toContain('<svg class="qr"');
  const { results } = await search(on.service.operator, { q: mobileOf(user) }, 'admin');
  expect(results.map(({ kind, id }) => [kind, id])).toContainEqual(['user', user]);
}

/** Counts the sealed values that open with the key. */
async function opened(key: Uint8Array): Promise<number> {
  const sealing = createSealing({ dataKey: key });
  const rows = await query<{ sealed: string; place: string }>(
    `select mobile as sealed, 'login mobile of "' || channel_user_id || '"' as place from channel_users
     union all select details, 'details of agreement ' || agreement_id from agreements
     union all select institution_no, 'institution number of agreement ' || agreement_id from agreements where institution_no is not null
     union all select c.code, 'code of claim ' || b.claim_no from claims c join benefits b using (order_no, cycle_no, position)
     union all select app_secret, 'appSecret of ' || app_id from channels
     union all select former_app_secret, 'appSecret of ' || app_id from channels where former_app_secret is not null`,
  );
  const results = rows.map(({ sealed, place }) => {
    try {
      sealing.unseal(sealed, place);
      return true;
    } catch {
      return false;
    }
  });
  return results.filter(Boolean).length;
}

it('replaces the data key while the channel is served, and nothing opens under the former key', async () => {
  // The client signs with the former app secret from now on.
  await resetCredentials(on.service.operator, { appId: appId(), names: ['appSecret'], overlapHours: 1 });
  const former = await dataKey();
  const before = await opened(former);
  expect(before).toBeGreaterThanOrEqual(5);
  await rotate();
  await expectServed();
  // Before the switch, nodes that do not know the new key yet must be able to read everything.
  await work();
  expect(await dataKey()).toEqual(former);
  await expect(rotate()).rejects.toThrow('already being replaced');

  await skipWait();
  await work();
  const current = await dataKey();
  expect(current).not.toEqual(former);
  await expectServed();
  expect(await opened(former)).toBe(0);
  expect(await opened(current)).toBeGreaterThanOrEqual(before);
  expect(await rotations()).toHaveLength(1);

  await skipDay();
  await work();
  expect(await rotations()).toHaveLength(0);
  await expectServed();
  const actions = (await listAudit(on.service.operator, { subject: appId() })).map(({ action }) => action);
  expect(actions.slice(0, 3)).toEqual([
    'channel.data-key-finished',
    'channel.data-key-switched',
    'channel.rotate-data-key',
  ]);

  // A second rotation uses the look-up key that the first one has stored.
  await rotate();
  await skipWait();
  await work();
  await expectServed();
  expect(await opened(current)).toBe(0);
});

it('finds values that were written under the former key afterwards, before it deletes that key', async () => {
  const stale = await createChannelRegistry(on.service.fresh.database, on.service.vault).get(appId());
  if (!stale) throw new Error('the channel is there');
  await rotate();
  await skipWait();
  await work();
  // Writes like a request that was in flight at the switch.
  const row = createUserRow(stale, 'late', '13900000000');
  await query('insert into channel_users (channel_id, channel_user_id, mobile_hash, mobile) values ($1, $2, $3, $4)', [
    stale.channelId,
    row.channelUserId,
    row.mobileHash,
    row.mobile,
  ]);
  await skipDay();
  await work();
  // This round has found a value to seal again, so one more round must follow.
  expect(await rotations()).toHaveLength(1);
  await skipWait();
  await work();
  expect(await rotations()).toHaveLength(0);
  const channel = await createChannelRegistry(on.service.fresh.database, on.service.vault).get(appId());
  const [stored] = await query<{ mobile: string }>(`select mobile from channel_users where channel_user_id = 'late'`);
  expect(channel?.sealing.unseal(stored?.mobile ?? '', 'login mobile of "late"')).toBe('13900000000');
});

it('does not disturb a binding in progress', async () => {
  const sent = await askForCode(on.channel, { channelUserId: 'bo', bankCardNo: CARD, paymentChannelCode: 'MOCKPAY' });
  const details = async () =>
    (
      await query<{ details: string }>('select details from agreements where agreement_id = $1', [
        sent.data.bindOrderNo,
      ])
    )[0]?.details;
  await query('update agreements set changed_at = now() where agreement_id = $1', [sent.data.bindOrderNo]);
  const before = await details();
  await rotate();
  await skipWait();
  await work();
  expect(await details()).toBe(before);
  expect((await confirm(on.channel, sent.data.bindOrderNo)).data.agreementStatus).toBe('BIND_SUCCESS');
  await skipDay();
  await work();
  expect(await opened(await dataKey())).toBeGreaterThanOrEqual(7);
});

it('keeps values that open under neither key, and logs a warning', async () => {
  await query(`update channel_users set mobile = 'damaged' where channel_user_id = 'annabella'`);
  await rotate();
  await skipWait();
  await work();
  expect(await query(`select from channel_users where mobile = 'damaged'`)).toHaveLength(1);
  expect(on.log.text()).toContain('open under neither data key');
});

it('is refused while nodes of an earlier version may run', async () => {
  await claimUnbound(on.service.fresh.database, on.service.vault);
  await expect(rotate()).rejects.toThrow('run master-key rewrap first');
});
