import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { resetCredentials } from '../../src/operator/provisioning/channels.js';
import { Unavailable, wrapQuery } from '../../src/platform/db/database.js';
import type { ServiceDeps } from '../../src/service.js';
import { ofFile } from '../orders/stage-of-file.js';
import { capturedLog } from '../support/captured-log.js';
import type { Reply } from '../support/channel-client.js';
import { anotherNode } from '../support/second-node.js';
import { claim, claimsOf, formOf, get, type Ordered, stage, textOf, titleOf } from './support.js';

/** A valid link opens the page. An expired link is named as such. All other links get one and the same answer. */

const on = ofFile(stage);
let order: Ordered;
let refused: Reply;
beforeAll(async () => {
  order = await on.order();
  refused = await on.get('/redeem');
});

/** Compares status, bytes and headers, except the time. */
function expectRefused(reply: Reply, what = ''): void {
  const { date: _date, ...headers } = reply.headers;
  const { date: _other, ...same } = refused.headers;
  expect([reply.status, reply.text, headers], what).toEqual([404, refused.text, same]);
}

const changed = (path: string, name: string, value: string) =>
  path.replace(new RegExp(`([?&]${name}=)[^&]*`), (_all, start) => start + value);

describe('a link', () => {
  it('200: opens the page of its order, any number of times', async () => {
    const more = '&utm=chat&utm=again&%B9%FA=%ff&&=&x';
    for (const path of [order.path, on.link(order), order.path + more]) {
      const reply = await on.get(path);
      expect([reply.status, titleOf(reply)]).toEqual([200, 'Monthly membership · Your benefits · Demo channel']);
    }
  });

  it('200: until it expires; then 410, and the page names the seller', async () => {
    const exp = Math.floor(on.service.clock.now() / 1000) + 1;
    expect((await on.get(on.link(order, { exp }))).status).toBe(200);
    const late = on.link(order, { exp: exp - 1 });
    for (const path of ['', '/benefits', '/codes', '/past', '/payments', '/unsubscribe', '/ended']) {
      const reply = await on.get(late.replace('/redeem', `/redeem${path}`));
      expect([reply.status, titleOf(reply)], path).toEqual([410, 'This link has expired · Demo channel']);
      expect(textOf(reply)).toContain('Please open the page again from Demo channel.');
      expect(textOf(reply)).not.toContain(order.orderNo);
    }
    // A link that was never valid is not shown as expired.
    expectRefused(await on.get(`${late}x`));
    expectRefused(await on.get(changed(late, 'orderNo', '999999999999')));
  });

  it.each([
    ['orderNo', ['1', '', 'abc', '0', '-1', '1e3', '9'.repeat(30), '%D9%A3']],
    ['appId', ['test_other', '', 'TEST_DEMO', 'test_demo%00', '%F0%9F%98%80', 'x'.repeat(10_000)]],
    [
      'channelUserId',
      ['somebody', '', 'a%00b', '%ff', '%C0%80', '%ED%A0%80', 'x'.repeat(10_000), `${'%F0%9F%98%80'.repeat(900)}`],
    ],
    ['exp', ['0', '', '1', '9999999999', '99999999999999999999', '1e10', '-1', '1.5', '%201769839260']],
    ['sig', ['', 'A'.repeat(43), 'A'.repeat(44), '=', '%00', '%', 'x'.repeat(10_000)]],
  ])('404: with another %s', async (name, values) => {
    for (const value of values)
      expectRefused(await on.get(changed(order.path, name, value)), `${name}=${value.slice(0, 50)}`);
  });

  it.each(['orderNo', 'appId', 'channelUserId', 'exp', 'sig'])('404: without %s, and with two', async (name) => {
    const [, value] = new RegExp(`${name}=([^&]*)`).exec(order.path) ?? [];
    expectRefused(await on.get(order.path.replace(new RegExp(`${name}=[^&]*&?`), '')));
    expectRefused(await on.get(`${order.path}&${name}=${value}`));
    expectRefused(await on.get(changed(order.path, name, `${value}&${name}=other`)));
  });

  it('404: with each character of the signature changed', async () => {
    const sig = /sig=(.*)$/.exec(order.path)?.[1] ?? '';
    for (let at = 0; at < sig.length; at += 1) {
      const other = sig[at] === 'A' ? 'B' : 'A';
      expectRefused(await on.get(changed(order.path, 'sig', sig.slice(0, at) + other + sig.slice(at + 1))));
    }
  });

  it('404: correctly signed for an unknown order, another user or another channel', async () => {
    const stranger = await on.order();
    expectRefused(await on.get(on.link({ ...order, orderNo: '999999999999' })));
    expectRefused(await on.get(on.link({ ...order, channelUserId: stranger.channelUserId })));
    const other = await on.service.channel();
    expectRefused(await on.get(on.link(order, {}, other.credentials)));
  });

  it('404: on other paths below it', async () => {
    for (const path of [
      ...['/redeem/', '/redeem/claim', '/redeem/claim-all', '/redeem/page.css', '/redeem/a/b?x=1'],
      ...[
        '/redeem/unsubscribe',
        '/redeem/ended',
        '/redeem/benefits',
        '/redeem/codes',
        '/redeem/past',
        '/redeem/payments',
      ],
    ]) {
      expectRefused(await on.get(path), path);
    }
  });
});

describe('a reset of the callback secret', () => {
  it('ends all earlier links, and later ones are valid, at once on every node', async () => {
    const own = await stage();
    const node = await anotherNode(own.service);
    try {
      const made = await own.order();
      const before = own.link(made);
      for (const baseUrl of [own.service.baseUrl, node.baseUrl]) expect((await get(baseUrl, before)).status).toBe(200);
      const { appId } = own.channel.credentials;
      const { callbackSecret = '' } = await resetCredentials(own.service.operator, {
        appId,
        names: ['callbackSecret'],
      });
      const after = own.link(made, {}, { callbackSecret });
      // The second node refuses the old link, although it has not yet received a link signed with the new secret.
      expect((await get(node.baseUrl, before)).status).toBe(404);
      for (const baseUrl of [own.service.baseUrl, node.baseUrl]) {
        expect((await get(baseUrl, after)).status).toBe(200);
        expect((await get(baseUrl, before)).status).toBe(404);
      }
    } finally {
      await node.close();
      await own.close();
    }
  });
});

const ownStage = async (more: Partial<ServiceDeps>) => {
  const own = await stage(more);
  onTestFinished(() => own.close());
  return own;
};

const times = (count: number) => Array.from({ length: count }, (_, index) => index);

describe('rate limits', () => {
  it('429: the 61st opening of one link in a minute; another link still opens', async () => {
    const order = await on.order();
    for (const _ of times(60)) expect((await on.get(order.path)).status).toBe(200);
    const over = await on.get(order.path);
    expect([over.status, titleOf(over)]).toEqual([429, 'One moment, please']);
    const seconds = Number(over.headers['retry-after']);
    expect(seconds).toBeGreaterThan(0);
    expect(over.text).toMatch(new RegExp(`try again in (a second|${seconds} seconds)`));
    expect(over.headers).toMatchObject({ 'cache-control': 'no-store', 'x-frame-options': 'DENY' });
    expect((await on.get(on.link(order))).status).toBe(200);
  });

  it('429: the 21st post with one link, and nothing is done', async () => {
    const order = await on.order();
    const page = await on.get(order.path);
    for (const _ of times(20)) await on.post('/redeem/claim', { ...formOf(page), claim: 'x' });
    const over = await on.post('/redeem/claim', { ...formOf(page), claim: claimsOf(page).get('VIP pass 1') ?? '' });
    expect([over.status, titleOf(over)]).toEqual([429, 'One moment, please']);
    expect(claimsOf(await on.get(order.path)).size).toBe(2);
  });

  it('429: an address that opens too many links, good or bad, and a fifth as many posts', async () => {
    const on = await ownStage({ redeemOpensPerMinute: 10 });
    const order = await on.order();
    for (const _ of times(9)) expect((await on.get('/redeem?sig=guess')).status).toBe(404);
    // Requests for the style and the script do not count towards the limit on opened links.
    for (const _ of times(9)) expect((await on.get('/redeem/page.js')).status).toBe(404);
    expect((await on.get(order.path)).status).toBe(200);
    expect((await on.get(order.path)).status).toBe(429);
    for (const _ of times(2)) expect((await on.post('/redeem/claim', {})).status).toBe(404);
    expect((await on.post('/redeem/claim', {})).status).toBe(429);
  });
});

describe('a fault', () => {
  it('500: a page with only the request id; the log has the cause, without the link', async () => {
    const { log, lines, text } = capturedLog();
    const on = await ownStage({ log });
    const order = await on.order();
    await claim(on, await on.get(order.path), 'VIP pass 1');
    await on.service.fresh.database.query(`update claims set code = 'nonsense'`);
    const reply = await on.get(order.path, { 'x-svc-request-id': 'my-own-number' });
    expect([reply.status, titleOf(reply)]).toEqual([500, 'Something went wrong on our side']);
    expect(reply.text).toContain('my-own-number');
    expect(reply.text).not.toMatch(/sealed|Error|at /);
    expect(lines().find(({ msg }) => msg === 'fault')).toMatchObject({ requestId: 'my-own-number', path: '/redeem' });
    const sig = /sig=(.*)$/.exec(order.path)?.[1] ?? '';
    expect(text()).toContain('"endpoint":"/redeem"');
    for (const secret of [sig, order.channelUserId]) expect(text()).not.toContain(secret);
    const metrics = await on.get('/metrics');
    expect(metrics.text).toContain('endpoint="/redeem",status="500"');
    expect(metrics.text).not.toContain(sig);
  });

  it('503: while the database is away, and not afterwards', async () => {
    const { database } = on.service.fresh;
    let away = true;
    const query = wrapQuery(database, (run) => (away ? Promise.reject(new Unavailable('away')) : run()));
    const node = await anotherNode(on.service, { database: { ...database, query, close: async () => undefined } });
    const { path } = await on.order();
    const reply = await get(node.baseUrl, path, { 'accept-language': 'zh' });
    expect([reply.status, titleOf(reply), reply.headers['retry-after']]).toEqual([503, '服务暂时不可用', '1']);
    away = false;
    expect((await get(node.baseUrl, path)).status).toBe(200);
    await node.close();
  });
});
