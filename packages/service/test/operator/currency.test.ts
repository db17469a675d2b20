import { type ReferenceProgram, startInstitution } from '@perennial/reference-peers';
import { pino } from 'pino';
import { beforeAll, describe, expect, it } from 'vitest';
import { createChannelRegistry } from '../../src/catalog/channels/channel-registry.js';
import { askAboutPendingDebits } from '../../src/engine/recovery/debits.js';
import { createBridgeGateway } from '../../src/gateways/bridge/bridge-gateway.js';
import { createBatchSettler } from '../../src/subscriptions/steps/payments/batch-settler.js';
import { perennial } from '../cli/perennial.js';
import { commandLine } from '../cli/support.js';
import { personOfFile } from '../console/support.js';
import { ledgerOf } from '../institution/support.js';
import { ofFile } from '../orders/stage-of-file.js';
import { textOf } from '../redeem/support.js';
import { attachBridge } from '../support/bridged-channel.js';
import type { ChannelClient, Reply } from '../support/channel-client.js';
import { demoChannel, requestAt, sharedRequest } from '../support/demo.js';
import { freePort } from '../support/free-port.js';
import { until } from '../support/processes.js';
import { testService } from '../support/service.js';

/** Tests an installation whose amounts are in euros. */
const service = ofFile(() => testService({ currency: 'EUR' }));
const line = commandLine(() => service.fresh, { CURRENCY: 'EUR' });
let channel: ChannelClient;
const admin = personOfFile(() => service, 'admin');
let order: { readonly orderNo: string; readonly redeemUrl: string };

beforeAll(async () => {
  channel = await demoChannel(service);
  order = (await channel.call('orders/create', sharedRequest(channel))).data;
});

describe('an installation in EUR', () => {
  it('does not change the API: amounts are integers', async () => {
    const { text, data } = await channel.call('orders/query', { orderNo: order.orderNo });
    expect(data.paymentRecords[0].amountCent).toBe(1990);
    expect(text).not.toMatch(/EUR|currency/i);
  });

  it('names its currency in the documents of the API', async () => {
    const document = await (await fetch(`${service.baseUrl}/developers/openapi.json`)).json();
    const description = expect.stringContaining('All amounts of this installation are in EUR');
    expect(document).toMatchObject({ info: { 'x-currency': 'EUR', description } });
    const page = await (await fetch(`${service.baseUrl}/developers/reference`)).text();
    expect(page).toContain('All amounts of this installation are in the currency <code>EUR</code>');
    expect(page).not.toContain('__CURRENCY__');
  });

  it.each(['en', 'zh-CN'])('shows users amounts in its currency (%s)', async (language) => {
    const address = order.redeemUrl.replace('https://pay.example', service.baseUrl);
    const page = await (await fetch(address, { headers: { 'accept-language': language } })).text();
    const text = textOf({ text: page } as Reply);
    expect(text).toContain('€19.90');
    expect(text).toContain('€15.00');
    expect(text).not.toMatch(/[¥￥]/);
  });

  it('shows operators its currency in the console and its files', async () => {
    expect((await admin.get('/session')).body).toMatchObject({ currency: 'EUR' });
    expect((await admin.get('/settlement/2026-01')).body).toMatchObject({ currency: 'EUR' });
    for (const file of ['/orders.csv', '/settlement/2026-01/csv']) {
      const lines: string[] = (await admin.get(file)).body.trimEnd().split('\r\n');
      expect(lines.map((line) => line.split(',').at(-1))).toEqual(['currency', 'EUR']);
    }
    const preview = await admin.get(`/orders/${order.orderNo}/periods/1/refund/preview?amountCent=1991`);
    expect(preview.body.refusal.detail).toContain('19.90 EUR left to refund');
    const found = (await admin.get(`/search?q=${order.orderNo}0001`)).body;
    expect(found.results[0].subtitle).toContain('19.90 EUR');
  });

  it('shows its currency on the command line', async () => {
    expect(await line.text('order', 'show', order.orderNo)).toMatch(/^Paid +19\.90 EUR$/m);
    expect(await line.text('product', 'list')).toMatch(/TEST_SPU_001 .* 19\.90 EUR /);
    const month = ['--channel', 'test_demo', '--month', '2026-01'];
    expect(JSON.parse(await line.text('settlement', 'report', ...month))).toMatchObject({ currency: 'EUR' });
    expect(await line.text('settlement', 'report', ...month, '--format', 'csv')).toMatch(/,1,19\.90,EUR\r\n$/);
    expect(await line.text('settlement', 'month', '2026-01')).toMatch(/^test_demo +19\.90 EUR \(1\)/m);
  });

  it('refuses commands with another currency', async () => {
    const { code, stderr } = await perennial(['product', 'list'], { ...line.settings(), CURRENCY: 'CNY' });
    expect([code, stderr]).toEqual([1, expect.stringContaining('are in EUR, but CURRENCY is CNY')]);
  });
});

describe('a bridge in another currency', () => {
  it('is not called and raises an alert; once it is corrected, waiting debits are made once', async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const { appId } = channel.credentials;
    const key = Buffer.from(await attachBridge(service.operator, appId, 'BANK', url), 'base64');
    const start = (currency: string): Promise<ReferenceProgram> =>
      startInstitution({
        port,
        key,
        currency,
        clock: service.clock,
        control: true,
      });
    const create = async () => (await channel.call('orders/create', requestAt(channel, 'BANK'))).data;
    const alert = async () => (await admin.get('/alerts?which=all&kind=bridge-currency')).body.alerts[0];

    const inYuan = await start('CNY');
    const waiting = await create();
    expect(waiting.orderStatus).toBe('INITIALIZING');
    expect(await alert()).toMatchObject({
      subject: 'BANK',
      detail: 'the bridge has CNY, this installation EUR',
      resolvedAt: null,
    });
    expect((await ledgerOf(inYuan)).arrivals).toEqual({});
    await inYuan.stop();

    const inEuro = await start('EUR');
    const { database } = service.fresh;
    await database.query('alter table alerts add constraint read_only check (resolved_at is null) not valid');
    expect((await create()).orderStatus).toBe('ACTIVE');
    await database.query('alter table alerts drop constraint read_only');
    expect(await alert()).toMatchObject({ resolvedAt: null });
    expect((await create()).orderStatus).toBe('ACTIVE');
    await until('the end of the alert', async () => (await alert()).resolvedAt !== null);
    expect(await alert()).toMatchObject({ seen: 1 });
    await database.query('update debit_attempts set ask_at = now() where ask_at is not null');
    const gateway = createBridgeGateway({ url, key, currency: 'EUR', clock: service.clock });
    await askAboutPendingDebits({
      ...{ database, clock: service.clock, log: pino({ level: 'silent' }), gateways: { of: async () => gateway } },
      channels: createChannelRegistry(database, service.vault),
      settle: createBatchSettler(database, service.clock),
    });
    const { data } = await channel.call('orders/query', { orderNo: waiting.orderNo });
    expect(data.orderStatus).toBe('ACTIVE');
    const { debits } = await ledgerOf(inEuro);
    expect(debits.map(({ debitedCent, arrivals }) => [debitedCent, arrivals])).toEqual([
      [1990, 1],
      [1990, 1],
      [1990, 1],
    ]);
    await gateway.close();
    await inEuro.stop();
  });
});
