import { describe, expect, it } from 'vitest';
import { createHousekeeping } from '../../src/engine/housekeeping.js';
import { listAudit } from '../../src/operator/audit/audit.js';
import { resetCredentials, showChannel } from '../../src/operator/provisioning/channels.js';
import { anotherNodeOfFile, serviceOfFile } from '../orders/stage-of-file.js';
import { capturedLog } from '../support/captured-log.js';
import { type ChannelClient, channelClient } from '../support/channel-client.js';

/**
 * Tests that an app secret can be replaced without a refused request on any node. Both secrets are valid during an
 * overlap.
 */
const { service } = serviceOfFile();
const other = anotherNodeOfFile(service);

const HOUR = 3_600_000;

/** Returns the result codes of both nodes for a request signed with each client's secret. */
async function codes(...clients: readonly ChannelClient[]): Promise<string[]> {
  const found: string[] = [];
  for (const client of clients) {
    const { appId } = client.credentials;
    for (const node of [client, other.client(client)]) {
      found.push((await node.callBare('auth/token', { grantType: 'client_credentials', appId })).code);
    }
  }
  return found;
}

async function roll(client: ChannelClient, overlapHours?: number): Promise<ChannelClient> {
  const { appId } = client.credentials;
  const reset = await resetCredentials(service.operator, {
    ...{ appId, names: ['appSecret'] },
    ...(overlapHours === undefined ? {} : { overlapHours }),
  });
  return channelClient(service.baseUrl, { ...client.credentials, ...reset }, () => service.clock.now());
}

/** Returns the database's time, from which the end of the overlap is counted. The clock of the tests differs. */
async function now(): Promise<number> {
  const [row] = await service.fresh.database.query<{ at: number }>(
    'select (extract(epoch from now()) * 1000)::bigint as at',
  );
  return row?.at ?? Number.NaN;
}

const OK = ['0', '0'];
const REFUSED = ['401002', '401002'];

describe('an app secret that is rolled', () => {
  it('with an overlap: both secrets are accepted until it ends, and then only the new one', async () => {
    const former = await service.channel();
    expect(await codes(former)).toEqual(OK);
    const token = await former.getToken();
    const current = await roll(former, 24);
    expect(await codes(former, current)).toEqual([...OK, ...OK]);
    // Tokens that were already issued stay valid, with either secret.
    for (const one of [former, current]) expect((await one.callBare('products/list', {}, { token })).code).toBe('0');
    const { formerSecretUntil } = await showChannel(service.operator, former.credentials);
    expect(formerSecretUntil).toMatch(/^\d{4}-/);
    service.clock.set((await now()) + 23 * HOUR);
    expect(await codes(former, current)).toEqual([...OK, ...OK]);
    service.clock.set((await now()) + 24 * HOUR);
    expect(await codes(former, current)).toEqual([...REFUSED, ...OK]);
    const [entry] = await listAudit(service.operator, { subject: former.credentials.appId, limit: 1 });
    expect(entry).toMatchObject({
      action: 'channel.reset-credentials',
      detail: { credentials: ['appSecret'], overlapHours: 24 },
    });
  });

  it('twice: the first secret ends with the second roll', async () => {
    service.clock.set(await now());
    const first = await service.channel();
    const second = await roll(first, 24);
    const third = await roll(second, 24);
    expect(await codes(first, second, third)).toEqual([...REFUSED, ...OK, ...OK]);
  });

  it('without an overlap: the old secrets and all tokens end at once', async () => {
    const first = await service.channel();
    const token = await first.getToken();
    const second = await roll(first, 24);
    const third = await roll(second);
    expect(await codes(first, second, third)).toEqual([...REFUSED, ...REFUSED, ...OK]);
    expect((await third.callBare('products/list', {}, { token })).code).toBe('401005');
    expect((await showChannel(service.operator, first.credentials)).formerSecretUntil).toBeNull();
  });

  it('is erased after the overlap', async () => {
    const first = await service.channel();
    await roll(first, 1);
    const { appId } = first.credentials;
    await service.fresh.database.query(
      `update channels set former_secret_until = now() - interval '1 second' where app_id = $1`,
      [appId],
    );
    const tidy = createHousekeeping({ database: service.fresh.database, log: capturedLog().log });
    expect(await tidy()).toMatchObject({ formerSecretsForgotten: expect.any(Number) });
    expect(
      await service.fresh.database.query('select 1 from channels where app_id = $1 and former_app_secret is not null', [
        appId,
      ]),
    ).toEqual([]);
  });
});
