import { describe, expect, it } from 'vitest';
import { setFrameOrigins } from '../../src/operator/provisioning/channel-settings.js';
import { ofFile } from '../orders/stage-of-file.js';
import { formOf, stage } from './support.js';

const on = ofFile(() => stage({ redeemUrl: () => 'https://h5.example/pay' }));

const set = (...origins: string[]) => setFrameOrigins(on.service.operator, { appId: 'test_demo', origins });

async function ancestors(path: string): Promise<unknown[]> {
  const { headers } = await on.get(path);
  const [, who] = /frame-ancestors ([^;]*)$/.exec(headers['content-security-policy'] as string) ?? [];
  return [who, headers['x-frame-options']];
}

describe('framing', () => {
  it("is allowed to the channel's origins, and to none by default", async () => {
    const path = on.link(await on.order());
    expect(await ancestors(path)).toEqual([`'none'`, 'DENY']);
    expect(await set('https://shop.example', 'https://M.shop.example:8443/')).toMatchObject({
      changed: true,
      frameOrigins: ['https://shop.example', 'https://m.shop.example:8443'],
    });
    expect(await ancestors(path)).toEqual(['https://shop.example https://m.shop.example:8443', undefined]);
    expect(await ancestors(path.replace('/redeem', '/redeem/unsubscribe'))).toEqual([
      'https://shop.example https://m.shop.example:8443',
      undefined,
    ]);
    // A visitor without a valid link learns nothing about the channel.
    expect(await ancestors(`${path}x`)).toEqual([`'none'`, 'DENY']);
    expect(await set('https://shop.example', 'https://m.shop.example:8443')).toMatchObject({ changed: false });
    expect(await set()).toMatchObject({ changed: true, frameOrigins: [] });
    expect(await ancestors(path)).toEqual([`'none'`, 'DENY']);
  });

  it.each([
    '*',
    'shop.example',
    'https://*.shop.example',
    'https://shop.example/path',
    'https://shop.example?x',
    'https://user@shop.example',
    "https://shop.example; script-src 'unsafe-inline'",
    'https://a.example https://b.example',
    'http://shop.example',
    'ftp://shop.example',
    'javascript:alert(1)',
    `'self'`,
    '',
  ])('%s is refused as an origin', async (origin) => {
    await expect(set(origin)).rejects.toThrow('an origin must look like https://shop.example');
  });

  it('at most twenty, without duplicates; this machine in a sandbox only', async () => {
    const many = Array.from({ length: 21 }, (_, n) => `https://shop${n}.example`);
    await expect(set(...many)).rejects.toThrow('at most 20');
    await expect(set('https://a.example', 'https://A.example')).rejects.toThrow('given twice');
    expect(await set('http://localhost:3000')).toMatchObject({ frameOrigins: ['http://localhost:3000'] });
    const production = { ...on.service.operator, environment: 'production' as const };
    const local = { appId: 'test_demo', origins: ['http://localhost:3000'] };
    await expect(setFrameOrigins(production, local)).rejects.toThrow('an origin must look like');
    await set();
  });
});

describe('REDEEM_URL', () => {
  it('is the base of links, and the page stays below its path', async () => {
    const { data } = await on.channel.call('orders/query', { orderNo: (await on.order()).orderNo });
    expect(data.redeemUrl).toMatch(/^https:\/\/h5\.example\/pay\/redeem\?/);
    const page = await on.get(data.redeemUrl.replace(/^.*(?=\/redeem)/, ''));
    expect(page.text).toContain('action="/pay/redeem/claim"');
    expect(page.text).toMatch(/href="\/pay\/redeem\/page\.[0-9a-f]{12}\.css"/);
    expect(Object.keys(formOf(page))).toEqual(['orderNo', 'appId', 'channelUserId', 'exp', 'sig', 'token']);
  });
});
