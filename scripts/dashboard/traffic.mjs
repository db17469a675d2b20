import { execFile } from 'node:child_process';
import { createHmac, randomInt, randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { CONTENT_TYPE, ENDPOINTS, encryptField, HEADERS, sha256Hex, signRequest } from '@perennial/wire';

const run = promisify(execFile);

/** A small shop: orders of all kinds, some that are declined or take their time, claims, one receiver that is down. */
export async function makeTraffic({ root, service, until }) {
  const { baseUrl, dataDir, channel } = service;
  const receivers = await startReceivers();
  const perennial = async (...args) => {
    const { stdout } = await run(
      process.execPath,
      [path.join(root, 'packages/service/bin/perennial.js'), ...args, '--json'],
      {
        env: { PATH: process.env['PATH'], DATA_DIR: dataDir },
      },
    );
    return stdout.trim() === '' ? undefined : JSON.parse(stdout);
  };
  const codes = path.join(dataDir, 'codes.txt');
  await writeFile(codes, Array.from({ length: 90 }, () => `${randomUUID()}\n`).join(''));
  await perennial('benefit', 'set-fulfilment', 'COUPON', '--kind', 'pool');
  await perennial('benefit', 'import-codes', 'COUPON', codes);
  await perennial('channel', 'set-callback', channel.appId, receivers.url, '--event', 'payment.status.changed');
  await perennial('channel', 'set-callback', channel.appId, receivers.downUrl, '--event', 'order.status.changed');
  await perennial('channel', 'set-limits', channel.appId, '--rate', '60');

  const client = clientOf(baseUrl, channel);
  await client.login();
  const work = async (pauseMs, step) => {
    while (Date.now() / 1000 < until) {
      await step().catch(() => undefined);
      await delay(pauseMs * (0.5 + Math.random()));
    }
  };
  const paid = [];
  await Promise.all([
    work(60, () => client.call('products/list', {})),
    work(150, async () => {
      const end = ['', '_FAIL', '_PENDING'][weighted([80, 14, 6])];
      const { orderNo } = await client.create('SVC_DEDUCT', end);
      if (end === '') paid.push(orderNo);
      await client.call('orders/query', { orderNo });
    }),
    work(400, async () => claimAll(baseUrl, await client.create('CHANNEL_COLLECT'))),
    work(250, () => client.call('orders/query', { orderNo: '1' })),
    // A burst above the rate from time to time.
    work(9_000, () =>
      Promise.all(Array.from({ length: 150 }, () => client.call('products/list', {}).catch(() => undefined))),
    ),
    work(12_000, async () => {
      const orderNo = paid.shift();
      if (orderNo) await perennial('order', 'refund', orderNo, '1');
    }),
  ]);
  await receivers.stop();
}

/** Presses every button of the page behind an order's link. */
async function claimAll(baseUrl, { redeemUrl }) {
  const { pathname, search } = new URL(redeemUrl);
  const page = await (await fetch(`${baseUrl}${pathname}${search}`)).text();
  const hidden = [...page.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)];
  const fields = hidden.map(([, name, value]) => [name, value.replaceAll('&amp;', '&')]);
  for (const [, claim] of page.matchAll(/name="claim" value="([^"]+)"/g)) {
    await fetch(`${baseUrl}/redeem/claim`, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
      body: new URLSearchParams([...fields, ['claim', claim]]),
    });
  }
}

function weighted(shares) {
  let left = randomInt(shares.reduce((sum, share) => sum + share, 0));
  return shares.findIndex((share) => {
    left -= share;
    return left < 0;
  });
}

function clientOf(baseUrl, channel) {
  let token = '';
  const secret = Buffer.from(channel.appSecret, 'base64');
  const encrypt = (text) => encryptField(text, Buffer.from(channel.aesKey, 'base64'));
  async function call(name, body) {
    const { path: at, write } = ENDPOINTS[name];
    const text = JSON.stringify(body);
    const timestamp = String(Date.now());
    const nonce = randomUUID().replaceAll('-', '');
    const requestId = randomUUID();
    const bodySha256 = sha256Hex(Buffer.from(text));
    const response = await fetch(baseUrl + at, {
      method: 'POST',
      body: text,
      headers: {
        [HEADERS.contentType]: CONTENT_TYPE,
        [HEADERS.appId]: channel.appId,
        [HEADERS.timestamp]: timestamp,
        [HEADERS.nonce]: nonce,
        [HEADERS.requestId]: requestId,
        [HEADERS.signature]: signRequest({ path: at, query: '', bodySha256, timestamp, nonce, requestId }, secret),
        ...(token === '' ? {} : { [HEADERS.authorization]: `Bearer ${token}` }),
        ...(write ? { [HEADERS.idempotencyKey]: requestId } : {}),
      },
    });
    const { code, message, data } = await response.json();
    if (code !== '0') throw new Error(`${name} answered ${code} ${message}`);
    return data;
  }
  return {
    call,
    async login() {
      token = (await call('auth/token', { grantType: 'client_credentials', appId: channel.appId })).accessToken;
    },
    create(settlementMode, end = '') {
      const name = randomUUID();
      const mobile = `1${String(randomInt(1e10)).padStart(10, '0')}`;
      const order = {
        settlementMode,
        externalOrderNo: `${name}${end}`,
        productCode: 'TEST_SPU_001',
        channelUserId: name,
        mobileEncrypted: encrypt(mobile),
      };
      if (settlementMode === 'CHANNEL_COLLECT') return call('orders/create', order);
      const sharedAgreement = {
        paymentChannelCode: channel.paymentChannels[0],
        sharedAgreementNo: createHmac('sha256', 'agreement').update(name).digest('hex').slice(0, 20),
        channelUserId: name,
        bankCardNoEncrypted: encrypt('6222020000001234567'),
        certificateNoEncrypted: encrypt('110101199001011234'),
        realNameEncrypted: encrypt('张三'),
        bankMobileEncrypted: encrypt('13800000001'),
      };
      return call('orders/create', { ...order, sharedAgreement });
    },
  };
}

/** One that takes everything, and one that answers 503. */
async function startReceivers() {
  const server = http.createServer((request, response) => {
    request.resume().once('end', () => {
      response.writeHead(request.url === '/down' ? 503 : 200, { 'content-type': 'application/json' });
      response.end(request.url === '/down' ? '{}' : '{"code":"0"}');
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${server.address().port}`;
  return {
    url: `${url}/up`,
    downUrl: `${url}/down`,
    stop: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  };
}
