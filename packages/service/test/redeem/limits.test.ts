import { describe, expect, it, onTestFinished } from 'vitest';
import { Unavailable, wrapQuery } from '../../src/platform/db/database.js';
import type { ServiceDeps } from '../../src/service.js';
import { ofFile } from '../orders/stage-of-file.js';
import { capturedLog } from '../support/captured-log.js';
import { anotherNode } from '../support/second-node.js';
import { claim, claimsOf, formOf, get, stage, titleOf } from './support.js';

const on = ofFile(stage);
const ownStage = async (more: Partial<ServiceDeps>) => {
  const own = await stage(more);
  onTestFinished(() => own.close());
  return own;
};

const times = (count: number) => Array.from({ length: count }, (_, index) => index);

describe('too often', () => {
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
    // Style and script do not count.
    for (const _ of times(9)) expect((await on.get('/redeem/page.js')).status).toBe(404);
    expect((await on.get(order.path)).status).toBe(200);
    expect((await on.get(order.path)).status).toBe(429);
    for (const _ of times(2)) expect((await on.post('/redeem/claim', {})).status).toBe(404);
    expect((await on.post('/redeem/claim', {})).status).toBe(429);
  });
});

describe('a fault', () => {
  it('500: a page with the number of the request and nothing else; the log says what happened, without the link', async () => {
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

  it('503: when the database is away, and none when the node is asked again later', async () => {
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
