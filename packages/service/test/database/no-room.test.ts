import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createWebhookTransport } from '../../src/alerts/webhook-transport.js';
import { systemClock } from '../../src/platform/clock.js';
import { type WebhookReceiver, webhookReceiver } from '../alerts/receivers.js';
import { type ChannelClient, channelClient } from '../support/channel-client.js';
import { collectRequest, demoChannel } from '../support/demo.js';
import { until } from '../support/processes.js';
import { sampleValue, scrape } from '../support/scrape.js';
import { type TestService, testService } from '../support/service.js';

/** Tests a server that answers some writes as if its disk were full. test/crash/full-disk.test.ts fills a real disk. */
let service: TestService;
let channel: ChannelClient;
let receiver: WebhookReceiver;
beforeEach(async () => {
  receiver = await webhookReceiver();
  const webhook = createWebhookTransport({ url: receiver.url, secret: 'a secret of the operator' }, systemClock);
  service = await testService({
    engine: true,
    clock: systemClock,
    alertWays: [webhook],
    testLimits: { alertSeconds: { resolved: 0.1, messages: 0.1 } },
  });
  const { credentials } = await demoChannel(service);
  channel = channelClient(service.baseUrl, credentials);
  await sql(`create function refuse() returns trigger language plpgsql as $$ begin
    raise exception 'could not extend file' using errcode = tg_argv[0]; end $$`);
});
afterEach(async () => {
  await service.close();
  await receiver.close();
});

const sql = (text: string) => service.fresh.database.query<{ kind: string }>(text);
const refuseInserts = (table: string, sqlState = '53100') =>
  sql(`create trigger refuse before insert on ${table} for each row execute function refuse('${sqlState}')`);
const allowInserts = (table: string) => sql(`drop trigger refuse on ${table}`);
const create = async () => (await channel.call('orders/create', collectRequest(channel))).code;
const isReady = async () => (await fetch(`${service.baseUrl}/readyz`)).status === 200;
const openAlerts = async () => (await sql(`select kind from alerts where resolved_at is null`)).map(({ kind }) => kind);
const told = () => receiver.taken.map(({ body }) => `${body.type} ${body.kind}`);

describe('a database without space', () => {
  it.each(['53100', '58030'])(
    'a write fails with %s: not ready, and ready again once writes succeed',
    async (state) => {
      expect([await create(), await isReady()]).toEqual(['0', true]);
      await refuseInserts('orders', state);
      expect([await create(), await isReady()]).toEqual(['503001', false]);
      expect(sampleValue(await scrape(service.baseUrl), 'perennial_database_writable')).toBe(0);
      await allowInserts('orders');
      await until('ready again', isReady);
      expect(sampleValue(await scrape(service.baseUrl), 'perennial_database_writable')).toBe(1);
      expect(await create()).toBe('0');
    },
  );

  it('a write that fails for another reason does not affect readiness', async () => {
    await refuseInserts('orders', '23514');
    expect([await create(), await isReady()]).toEqual(['500001', true]);
  });

  it('raises an alert, which ends when no node has seen the failure for two minutes', async () => {
    await refuseInserts('orders');
    await create();
    await until('an alert', async () => (await openAlerts()).includes('database-full'));
    await allowInserts('orders');
    await until('ready again', isReady);
    expect(await openAlerts()).toEqual(['database-full']);
    await until('told', () => told().includes('alert.opened database-full'));
    await sql(`update alerts set last_seen_at = last_seen_at - interval '2 min'`);
    await until('an end', async () => (await openAlerts()).length === 0);
    await until('told', () => told().includes('alert.resolved database-full'));
  });

  it('notifies once even while the alert cannot be stored, and stores it as soon as possible', async () => {
    await refuseInserts('alerts');
    await refuseInserts('orders');
    await create();
    await until('told', () => told().includes('alert.opened database-full'));
    expect(await openAlerts()).toEqual([]);
    await allowInserts('orders');
    await allowInserts('alerts');
    await until('an alert', async () => (await openAlerts()).includes('database-full'));
    // The first message was sent from the node's memory. The second message is sent after the alert was stored, as for
    // any other alert.
    await until('told again', () => told().length > 1);
    expect(told()).toEqual(['alert.opened database-full', 'alert.opened database-full']);
    await until('ready again', isReady);
  });
});
