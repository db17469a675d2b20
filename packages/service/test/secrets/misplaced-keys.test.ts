import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFulfilmentRegistry } from '../../src/fulfilment/fulfilment-registry.js';
import { rewrapKeys } from '../../src/operator/copies/master-key.js';
import { setFulfilment } from '../../src/operator/provisioning/benefits.js';
import { authorizePaymentChannel } from '../../src/operator/provisioning/payment-channel-authorizations.js';
import {
  createPaymentChannel,
  resetGatewayKey,
  updatePaymentChannel,
} from '../../src/operator/provisioning/payment-channels.js';
import { createKey } from '../../src/platform/secrets/vault.js';
import type { ServiceDeps } from '../../src/service.js';
import { askForCode } from '../agreements/bridged.js';
import { alerts } from '../orders/support.js';
import { capturedLog } from '../support/captured-log.js';
import type { ChannelClient } from '../support/channel-client.js';
import { demoChannel, unique } from '../support/demo.js';
import { claimUnbound } from '../support/earlier-version.js';
import { until } from '../support/processes.js';
import { type TestService, testService } from '../support/service.js';

const CARD = '6222020000004321';

/** Starts a server that records its requests. The service accepts none of its answers. */
async function recorder() {
  const received: string[] = [];
  const server: Server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    received.push(body);
    response.writeHead(request.url?.endsWith('/handshake') ? 404 : 500).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => new Promise((resolve) => server.close(resolve)));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, received };
}

let service: TestService;
let channel: ChannelClient;
let closers: (() => Promise<unknown>)[];
let bridge: Awaited<ReturnType<typeof recorder>>;
let thief: Awaited<ReturnType<typeof recorder>>;
const log = capturedLog();

async function begin(more: Partial<ServiceDeps> = {}, form: 'bound' | 'unbound' = 'bound'): Promise<void> {
  service = await testService({ log: log.log, ...more });
  closers.push(() => service.close());
  const { fresh, vault } = service;
  if (form === 'unbound') await claimUnbound(fresh.database, vault);
  channel = await demoChannel(service);
  await bridged('BRIDGE', bridge.url);
}

async function bridged(code: string, gatewayUrl: string): Promise<void> {
  const { operator } = service;
  await createPaymentChannel(operator, {
    code,
    gateway: 'bridge',
    gatewayUrl,
    displayName: code,
    supportedBanks: ['*'],
  });
  await authorizePaymentChannel(operator, { appId: channel.credentials.appId, code });
}

const sql = (text: string, values: readonly unknown[] = []) => service.fresh.database.query(text, values);

const setBridge = (url: string, key: string) =>
  sql(`update payment_channels set gateway_url = $1, gateway_key = $2 where code = 'BRIDGE'`, [url, key]);

async function bridgeKey(): Promise<string> {
  const [row] = await service.fresh.database.query<{ key: string }>(
    `select gateway_key as key from payment_channels where code = 'BRIDGE'`,
  );
  return row?.key ?? '';
}

/** Binds a card of a new user. */
const bindCard = (paymentChannelCode = 'BRIDGE') =>
  askForCode(channel, { channelUserId: unique('user'), bankCardNo: CARD, paymentChannelCode });

const hasCard = ({ received }: { readonly received: readonly string[] }) => received.join().includes(CARD);

beforeEach(async () => {
  closers = [];
  bridge = await recorder();
  thief = await recorder();
});
afterEach(async () => {
  for (const close of closers.reverse()) await close();
});

describe('a database writer does not get card data', () => {
  it('by changing the address of a bridge', async () => {
    await begin();
    await bindCard();
    expect(hasCard(bridge)).toBe(true);
    await sql('update payment_channels set gateway_url = $1 where code = $2', [thief.url, 'BRIDGE']);
    const refused = await bindCard();
    expect(thief.received).toEqual([]);
    expect(refused.code).not.toBe('0');
    await expect
      .poll(() => alerts(service.fresh.database))
      .toMatchObject([
        { kind: 'peer-refused', subject: 'BRIDGE', detail: expect.stringContaining('changed in the database') },
      ]);
    expect(log.text()).toContain('nothing is sent to it');
    // An acknowledged alert is raised again after a day.
    await sql(`update alerts set acknowledged_at = now() - interval '25 hours', acknowledged_by = 'somebody'`);
    await bindCard();
    await until(
      'the alert again',
      async () => (await sql('select from alerts where acknowledged_at is null')).length > 0,
    );
    // The right address works again, with the same key.
    await sql('update payment_channels set gateway_url = $1 where code = $2', [bridge.url, 'BRIDGE']);
    bridge.received.length = 0;
    await bindCard();
    expect(hasCard(bridge)).toBe(true);
  });

  it('by copying the address and the key of another bridge, even if a node has used it', async () => {
    await begin();
    await bridged('OWN', thief.url);
    await bindCard('OWN');
    thief.received.length = 0;
    await sql(
      `update payment_channels p set gateway_url = o.gateway_url, gateway_key = o.gateway_key
       from payment_channels o where p.code = 'BRIDGE' and o.code = 'OWN'`,
    );
    const refused = await bindCard();
    expect(thief.received).toEqual([]);
    expect(refused.code).not.toBe('0');
  });

  it('by an address without TLS in production', async () => {
    await begin({ environment: 'production' }, 'unbound');
    await sql('update payment_channels set gateway_url = $1 where code = $2', [thief.url, 'BRIDGE']);
    const refused = await bindCard();
    expect(thief.received).toEqual([]);
    expect(refused.code).not.toBe('0');
    await expect
      .poll(() => alerts(service.fresh.database))
      .toMatchObject([{ kind: 'peer-refused', detail: expect.stringContaining('https') }]);
  });

  it('by storing a key in the form of earlier versions, in a database that never had one', async () => {
    await begin();
    await setBridge(thief.url, service.vault.wrapKey(createKey(), undefined));
    const refused = await bindCard();
    expect(thief.received).toEqual([]);
    expect(refused.code).not.toBe('0');
  });
});

describe('keys of an earlier version', () => {
  it('work until master-key rewrap, which binds them; running nodes refuse unbound keys from then on', async () => {
    await begin({}, 'unbound');
    await bindCard();
    expect(hasCard(bridge)).toBe(true);
    const before = await bridgeKey();
    expect(before).toMatch(/^[0-9a-f]{8}\.[\w-]+$/);
    expect(await rewrapKeys(service.operator)).toMatchObject({ changed: true });
    bridge.received.length = 0;
    await bindCard();
    expect(hasCard(bridge)).toBe(true);

    await setBridge(thief.url, before);
    const refused = await bindCard();
    expect(thief.received).toEqual([]);
    expect(refused.code).not.toBe('0');
    // Another rewrap does not make the unbound key valid.
    await expect(rewrapKeys(service.operator)).rejects.toThrow('not bound to its place');
  });

  it('are still written until then, so that nodes of the earlier version can read them', async () => {
    await begin({}, 'unbound');
    await resetGatewayKey(service.operator, { code: 'BRIDGE' });
    expect(service.vault.unwrapKey(await bridgeKey(), 'anywhere', 'accepted')).toHaveLength(32);
  });

  it('a key that is stored while the rewrap ends is bound too', async () => {
    await begin({}, 'unbound');
    const { database } = service.fresh;
    let rewrap: Promise<unknown> | undefined;
    await database.transaction(async (tx) => {
      // Acts like another node: reads the form in which keys are stored now, and then stores a key in that form.
      await tx.query('select from installation for share');
      rewrap = rewrapKeys(service.operator);
      await expect.poll(() => waitsForLock()).toBe(true);
      await tx.query(`insert into look_up_keys (purpose, wrapped) values ('late', $1)`, [
        service.vault.wrapKey(createKey(), undefined),
      ]);
    });
    await rewrap;
    expect(
      await sql(`select from look_up_keys where purpose = 'late' and wrapped ~ '^[0-9a-f]{8}[.]2[.]'`),
    ).toHaveLength(1);
  });
});

async function waitsForLock(): Promise<boolean> {
  const waiting = await sql(
    `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return waiting.length > 0;
}

describe('operators', () => {
  it('move a bridge with its key, and repair an address that was changed in the database', async () => {
    await begin();
    const moved = await recorder();
    await updatePaymentChannel(service.operator, { code: 'BRIDGE', gatewayUrl: moved.url });
    await bindCard();
    expect(hasCard(moved)).toBe(true);

    await sql('update payment_channels set gateway_url = $1 where code = $2', [thief.url, 'BRIDGE']);
    await expect(resetGatewayKey(service.operator, { code: 'BRIDGE' })).rejects.toThrow('set the right address first');
    await updatePaymentChannel(service.operator, { code: 'BRIDGE', gatewayUrl: moved.url });
    moved.received.length = 0;
    await bindCard();
    expect(hasCard(moved)).toBe(true);

    // The key belongs to neither the stored nor the new address, so it is removed.
    await sql('update payment_channels set gateway_url = $1 where code = $2', [thief.url, 'BRIDGE']);
    await updatePaymentChannel(service.operator, { code: 'BRIDGE', gatewayUrl: bridge.url });
    bridge.received.length = 0;
    await bindCard();
    expect(bridge.received).toEqual([]);
    await resetGatewayKey(service.operator, { code: 'BRIDGE' });
    await bindCard();
    expect(hasCard(bridge)).toBe(true);
    expect(thief.received).toEqual([]);
  });
});

describe('the key of a supplier', () => {
  it('opens for its benefit and its address only', async () => {
    await begin();
    const deps = { ...service.operator, clock: service.clock, log: log.log };
    const supplier = { kind: 'supplier', supplierUrl: bridge.url, supplierKey: createKey() };
    for (const benefitCode of ['FILM', 'MUSIC']) await setFulfilment(service.operator, { ...supplier, benefitCode });
    const fulfilments = createFulfilmentRegistry(deps);
    closers.push(() => fulfilments.close());
    await fulfilments.supplierOf('FILM');
    await sql(`update benefit_fulfilments set supplier_url = $1 where benefit_code = 'FILM'`, [thief.url]);
    await expect(fulfilments.supplierOf('FILM')).rejects.toThrow('does not open');
    await sql(
      `update benefit_fulfilments m set supplier_key = f.supplier_key from benefit_fulfilments f
       where m.benefit_code = 'MUSIC' and f.benefit_code = 'FILM'`,
    );
    await expect(fulfilments.supplierOf('MUSIC')).rejects.toThrow('does not open');
    await setFulfilment(service.operator, { ...supplier, benefitCode: 'FILM' });
    await fulfilments.supplierOf('FILM');
  });
});
