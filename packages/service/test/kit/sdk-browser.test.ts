import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { browserOfFile } from '../browser/support.js';
import { ofFile } from '../orders/stage-of-file.js';
import { demoChannel, mobileOf, unique } from '../support/demo.js';
import { packageRoot } from '../support/processes.js';
import { testService } from '../support/service.js';

/** Tests the SDK's published file in a browser, where no part of Node exists. */

const service = ofFile(() => testService());
const browser = browserOfFile();
let site: http.Server;

beforeAll(async () => {
  const file = await readFile(path.join(packageRoot, '..', 'sdk', 'dist', 'index.js'));
  site = http.createServer(async (request, response) => {
    if (request.url === '/sdk.js') return response.setHeader('Content-Type', 'text/javascript').end(file);
    if (request.method === 'GET')
      return response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>Shop</title>');
    return passOn(request, response);
  });
  site.listen(0, '127.0.0.1');
  await once(site, 'listening');
});
afterAll(() => void site.close());

/** Passes a request on to the service, because browsers refuse calls of its API from pages of other origins. */
function passOn(request: http.IncomingMessage, response: http.ServerResponse): void {
  const { method, url, headers } = request;
  const onward = http.request(`${service.baseUrl}${url}`, { method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 500, answer.headers);
    answer.pipe(response);
  });
  request.pipe(onward);
}

it('signs, encrypts, calls and verifies', async () => {
  const { credentials } = await demoChannel(service);
  const baseUrl = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  const channelUserId = unique('browser-user');
  const given = {
    options: { ...credentials, baseUrl },
    now: service.clock.now(),
    order: {
      settlementMode: 'SVC_DEDUCT',
      externalOrderNo: unique('browser'),
      productCode: 'TEST_SPU_001',
      channelUserId,
      mobile: mobileOf(channelUserId),
      sharedAgreement: {
        paymentChannelCode: 'MOCKPAY',
        sharedAgreementNo: unique('browser-shared'),
        channelUserId,
        bankCardNo: '6222020000001234567',
        certificateNo: '110101199001011234',
        realName: '张三',
        bankMobile: '13800000001',
      },
    },
    event: {
      eventId: 'evt_1',
      eventType: 'payment.status.changed',
      occurredAt: '',
      retryNo: 0,
      data: { mobile: '13800000001' },
    },
  };
  const page = await browser.newPage();
  await page.goto(baseUrl);
  const seen = await page.evaluate<Record<string, unknown>>(`(async ({ options, now, order, event }) => {
    const { PerennialClient, verifyWebhook, signWebhookForTest, createFetchReceiver } = await import('/sdk.js');
    const clock = () => now;
    const client = new PerennialClient({ ...options, now: clock });
    const { orderStatus } = await client.orders.create(order);
    const { bankDataList } = await client.agreements.userData({ channelUserId: order.channelUserId });
    const refusal = await client.orders.query({ orderNo: '1' }).catch((error) => error);
    const { callbackSecret, aesKey } = options;
    const keys = { callbackSecret, aesKey, now: clock };
    const { headers, body } = signWebhookForTest({ ...keys, path: '/events', event });
    const verified = verifyWebhook({ ...keys, path: '/events', headers, rawBody: body });
    let reason;
    try {
      verifyWebhook({ ...keys, path: '/events', headers, rawBody: body + ' ' });
    } catch (error) {
      reason = error.reason;
    }
    const received = [];
    const receive = createFetchReceiver({ ...keys, onEvent: (one) => received.push(one), onError: (error) => received.push(String(error)) });
    const answer = await receive(new Request('/events', { method: 'POST', headers, body }));
    return { orderStatus, bankDataList, refusal: refusal.name, verified, reason, received, answer: await answer.json() };
  })(${JSON.stringify(given)})`);
  expect(seen).toMatchObject({
    orderStatus: 'ACTIVE',
    bankDataList: [{ bankCardNo: '6222020000001234567', realName: '张三', bankMobile: '13800000001' }],
    refusal: 'SUBSCRIPTION_NOT_FOUND',
    verified: given.event,
    reason: 'signature-mismatch',
    received: [given.event],
    answer: { code: '0' },
  });
});
