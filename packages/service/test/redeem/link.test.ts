import { beforeAll, describe, expect, it } from 'vitest';
import { resetCredentials } from '../../src/operator/provisioning/channels.js';
import { ofFile } from '../orders/stage-of-file.js';
import type { Reply } from '../support/channel-client.js';
import { anotherNode } from '../support/second-node.js';
import { get, type Ordered, stage, textOf, titleOf } from './support.js';

/** Whoever has a link that holds sees the page; every other link gets the same answer. */

const on = ofFile(stage);
let order: Ordered;
let refused: Reply;
beforeAll(async () => {
  order = await on.order();
  refused = await on.get('/redeem');
});

/** The same status, bytes and headers, but for the time. */
function expectRefused(reply: Reply, what = ''): void {
  const { date: _date, ...headers } = reply.headers;
  const { date: _other, ...same } = refused.headers;
  expect([reply.status, reply.text, headers], what).toEqual([404, refused.text, same]);
}

const changed = (path: string, name: string, value: string) =>
  path.replace(new RegExp(`([?&]${name}=)[^&]*`), (_all, start) => start + value);

describe('a link', () => {
  it('200: opens the page of its order, as often as one likes', async () => {
    const more = '&utm=chat&utm=again&%B9%FA=%ff&&=&x';
    for (const path of [order.path, on.link(order), order.path + more]) {
      const reply = await on.get(path);
      expect([reply.status, titleOf(reply)]).toEqual([200, 'Monthly membership · Your benefits · Demo channel']);
    }
  });

  it('404: says in one page that it does not work, and what to do', () => {
    expect(refused.text).toContain('This link does not work');
    expect(refused.text).toContain('open your benefits from there');
  });

  it('200: until its time has come; 410 from then on, and the page says whose it was', async () => {
    const exp = Math.floor(on.service.clock.now() / 1000) + 1;
    expect((await on.get(on.link(order, { exp }))).status).toBe(200);
    const late = on.link(order, { exp: exp - 1 });
    for (const path of ['', '/benefits', '/codes', '/past', '/payments', '/unsubscribe', '/ended']) {
      const reply = await on.get(late.replace('/redeem', `/redeem${path}`));
      expect([reply.status, titleOf(reply)], path).toEqual([410, 'This link has run out · Demo channel']);
      expect(textOf(reply)).toContain('Please open your benefits again from Demo channel.');
      expect(reply.text).not.toContain(order.orderNo);
    }
    // What never was a link of the service has not run out.
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

  it('404: rightly signed, for an order that is not there, or is another user or another channel’s', async () => {
    const stranger = await on.order();
    expectRefused(await on.get(on.link({ ...order, orderNo: '999999999999' })));
    expectRefused(await on.get(on.link({ ...order, channelUserId: stranger.channelUserId })));
    const other = await on.service.channel();
    expectRefused(await on.get(on.link(order, {}, other.credentials)));
  });

  it('404: on other paths under it', async () => {
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
  it('ends the links of before, and those of after hold, at once on every node', async () => {
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
      // Also where nothing that is signed with the new one has come.
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
