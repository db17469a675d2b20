import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { listAudit } from '../../src/operator/audit/audit.js';
import { listBenefits, showBenefit } from '../../src/operator/provisioning/benefits.js';
import { type SetBrandingInput, setBranding } from '../../src/operator/provisioning/branding.js';
import { showChannel } from '../../src/operator/provisioning/channels.js';
import { type SetPresentationInput, setPresentation } from '../../src/operator/provisioning/presentations.js';
import { setProductNames } from '../../src/operator/provisioning/products.js';
import { personOfFile } from '../console/support.js';
import { dump, versionOf } from '../operator/support.js';
import { ofFile } from '../orders/stage-of-file.js';
import { GOOD_PNG, SQUARE, svg } from '../pictures/samples.js';
import { at, stage, textOf } from './support.js';

const on = ofFile(() => stage({ redeemOpensPerMinute: 30 }));
const admin = personOfFile(() => on.service, 'admin');
const viewer = personOfFile(() => on.service, 'viewer');

const APP_ID = 'test_demo';
const brand = (input: Omit<SetBrandingInput, 'appId'>) => setBranding(on.service.operator, { appId: APP_ID, ...input });
const present = (input: Omit<SetPresentationInput, 'benefitCode'>) =>
  setPresentation(on.service.operator, { benefitCode: 'VIP_PASS', ...input });
const images = async () =>
  (await on.service.fresh.database.query<{ hash: string }>('select image_hash as hash from images order by 1')).map(
    ({ hash }) => hash,
  );
const lastAudit = async (subject: string) => {
  const [entry] = await listAudit(on.service.operator, { subject, limit: 1 });
  return entry && { action: entry.action, detail: entry.detail };
};
const LOGO = svg(`<script>alert(1)</script>${SQUARE}`);
const HASH = createHash('sha256').update(LOGO).digest('hex');
const PNG_HASH = createHash('sha256').update(GOOD_PNG).digest('hex');
const NOTHING = { displayName: null, logo: null, accent: null, support: null, termsUrl: null, shopUrl: null };

describe('the branding of a channel', () => {
  it('is empty at first, then what was set, until it is removed', async () => {
    expect((await showChannel(on.service.operator, { appId: APP_ID })).branding).toEqual(NOTHING);
    const before = (await versionOf(on.service.fresh.database, APP_ID)) ?? 0;
    const all = {
      displayName: '  阳光商店 Sunny ',
      logo: LOGO,
      accent: '#0A6',
      support: '+86 400-000-0000',
      termsUrl: 'https://shop.example/terms?x=1#top',
      shopUrl: 'http://localhost:3000/',
    };
    const branding = {
      ...{ displayName: '阳光商店 Sunny', accent: '00aa66', support: '+86 400-000-0000' },
      ...{ termsUrl: 'https://shop.example/terms?x=1#top', shopUrl: 'http://localhost:3000/' },
      logo: { file: `${HASH}.svg`, mediaType: 'image/svg+xml', bytes: LOGO.length },
    };
    expect(await brand(all)).toMatchObject({ changed: true, branding, leftOut: [] });
    expect(await versionOf(on.service.fresh.database, APP_ID)).toBe(before + 1);
    expect(await lastAudit(APP_ID)).toEqual({
      action: 'channel.set-branding',
      detail: {
        from: { ...NOTHING, logo: undefined, logoHash: null },
        to: { ...branding, logo: undefined, logoHash: HASH },
      },
    });
    expect(await brand({ ...all, logo: Buffer.from(LOGO) })).toMatchObject({ changed: false });
    expect(await versionOf(on.service.fresh.database, APP_ID)).toBe(before + 1);
    expect(await brand({ accent: null, support: 'help@shop.example' })).toMatchObject({
      changed: true,
      branding: { ...branding, accent: null, support: 'help@shop.example' },
    });
    expect((await lastAudit(APP_ID))?.detail).toEqual({
      from: { accent: '00aa66', support: '+86 400-000-0000' },
      to: { accent: null, support: 'help@shop.example' },
    });
    expect(await brand({ support: 'https://shop.example/help' })).toMatchObject({ changed: true });
  });

  it.each([
    [{ displayName: ' ' }, 'the display name must have 1 to 40 characters, not 0'],
    [{ displayName: 'x'.repeat(41) }, 'the display name must have 1 to 40 characters, not 41'],
    [{ displayName: '\u200b\u2060\u3164' }, 'the display name must have 1 to 40 characters, not 0'],
    [{ displayName: 'Shop\u0007' }, 'must not contain control characters'],
    [{ displayName: 'Shop\nBank' }, 'must not contain control characters'],
    [{ displayName: 'Shop\ud800' }, 'must not contain control characters'],
    [{ displayName: 'Shop \u202Eknab' }, 'must not contain characters that change the text direction'],
    [{ displayName: 'Shop \u2066x\u2069' }, 'must not contain characters that change the text direction'],
    [{ accent: 'green' }, 'a colour must look like #0a6b4b, not "green"'],
    [{ accent: '#12345' }, 'a colour must look like #0a6b4b'],
    [{ accent: '#fff;}*{' }, 'a colour must look like #0a6b4b'],
    [{ support: 'call us' }, 'the support contact must be a phone number'],
    [{ support: '12' }, 'the support contact must be a phone number'],
    [{ support: 'javascript:alert(1)' }, 'the support contact must be a phone number'],
    [{ support: '<b>@shop.example' }, 'the support contact must be a phone number'],
    [{ support: `${'a'.repeat(60)}@${'b'.repeat(60)}.example` }, 'of at most 120 characters'],
    [{ support: 'http://shop.example' }, 'must start with https://'],
    [{ support: `https://shop.example/${'x'.repeat(120)}` }, 'the support address must have 1 to 120 characters'],
    [{ termsUrl: 'javascript:alert(1)' }, 'the address of the terms "javascript:alert(1)" must start with https://'],
    [{ termsUrl: '/terms' }, 'the address of the terms "/terms" is not a complete address'],
    [{ shopUrl: 'http://shop.example' }, 'must start with https://'],
    [
      { shopUrl: 'https://ann:secret@shop.example' },
      'the address of the shop must not contain a user name or password',
    ],
    [
      { shopUrl: `https://shop.example/${'好'.repeat(60)}` },
      'the address of the shop must have 1 to 500 characters, not 561',
    ],
    [{ logo: Buffer.from('GIF89a') }, 'the file is neither a PNG nor an SVG in UTF-8'],
    [{}, 'there is nothing to change; give at least one value'],
  ])('%j is refused, and nothing of it is stored', async (input, why) => {
    const before = await dump(on.service.fresh.database);
    const rest = Object.keys(input).length === 0 ? {} : { displayName: 'Else' };
    await expect(brand({ ...rest, ...input })).rejects.toThrow(why);
    expect(await dump(on.service.fresh.database)).toBe(before);
  });

  it('may link to this machine in a sandbox only, and is refused for an unknown channel', async () => {
    const production = { ...on.service.operator, environment: 'production' as const };
    const here = { appId: APP_ID, shopUrl: 'http://localhost:3000/' };
    await expect(setBranding(production, here)).rejects.toThrow('must start with https://');
    await expect(setBranding(on.service.operator, { ...here, appId: 'test_nobody' })).rejects.toThrow(
      'there is no channel',
    );
  });
});

describe('the presentation of a benefit', () => {
  it("is set by its code, listed, and read by the page's statement", async () => {
    const { path } = await on.order();
    const page = async () => (await on.get(path)).text;
    expect(await page()).not.toContain(`/redeem/images/${PNG_HASH}`);
    const texts = { descriptionZh: '全场通用', descriptionEn: 'For everything', useUrl: 'https://shop.example/use' };
    const set = await present({ ...texts, icon: GOOD_PNG });
    const icon = { file: `${PNG_HASH}.png`, mediaType: 'image/png', bytes: GOOD_PNG.length };
    expect(set).toMatchObject({ changed: true, leftOut: [], presentation: { ...texts, icon } });
    expect(await lastAudit('VIP_PASS')).toEqual({
      action: 'benefit.set-presentation',
      detail: {
        from: { descriptionZh: null, descriptionEn: null, useUrl: null, iconHash: null },
        to: { ...texts, iconHash: PNG_HASH },
      },
    });
    expect(await page()).toContain(`/redeem/images/${PNG_HASH}.png`);
    expect(await page()).toMatch(/For everything|全场通用/);
    expect((await present({ ...texts, icon: GOOD_PNG })).changed).toBe(false);
    expect((await showBenefit(on.service.operator, { benefitCode: 'VIP_PASS' })).presentation).toEqual({
      ...texts,
      ...{ nameZh: null, nameEn: null },
      icon,
    });
    const listed = await listBenefits(on.service.operator);
    expect(listed.find(({ benefitCode }) => benefitCode === 'COUPON')?.presentation).toEqual({
      ...{ icon: null, nameZh: null, nameEn: null, descriptionZh: null, descriptionEn: null, useUrl: null },
    });
  });

  it('names: each page shows the name of its language, or else the only name', async () => {
    const { path } = await on.order();
    const read = async (lang: string) => textOf(await on.get(path, { 'accept-language': lang }));
    await present({ nameZh: '会员权益' });
    await setProductNames(on.service.operator, { productCode: 'TEST_SPU_001', nameEn: 'Gold <b>', nameZh: '金卡会员' });
    expect(await read('zh')).toMatch(/金卡会员 .*会员权益 价值 ¥15.00 .*Coupon/);
    expect(await read('en')).toMatch(/Gold &lt;b&gt; Period 1 .*VIP pass Worth/);
    for (const list of ['benefits', 'payments', 'unsubscribe']) {
      expect((await on.get(at(path, list), { 'accept-language': 'zh' })).text).toContain('金卡会员');
    }
    const reset = await setProductNames(on.service.operator, {
      productCode: 'TEST_SPU_001',
      nameEn: null,
      nameZh: null,
    });
    await present({ nameZh: null });
    expect([reset.changed, reset.nameEn]).toEqual([true, null]);
    expect(await read('zh')).toMatch(/Monthly membership .*VIP pass/);
    await expect(setProductNames(on.service.operator, { productCode: 'TEST_SPU_001' })).rejects.toThrow(
      'nothing to change',
    );
  });

  it.each([
    [{ descriptionZh: '好'.repeat(121) }, 'the Chinese description must have 1 to 120 characters, not 121'],
    [{ descriptionEn: 'a\tb' }, 'the English description must not contain control characters'],
    [{ useUrl: 'data:text/html,x' }, 'the address where codes are used "data:text/html,x" must start with https://'],
    [{ icon: svg(SQUARE, '') }, 'the SVG cannot be used: it has neither a viewBox nor a size'],
    [{}, 'there is nothing to change; give at least one value'],
  ])('%j is refused', async (input, why) => {
    await expect(present(input)).rejects.toThrow(why);
  });
});

describe('pictures', () => {
  it('are stored once while something refers to them, and deleted with the last reference', async () => {
    await brand({ logo: LOGO });
    await present({ icon: GOOD_PNG });
    expect(await images()).toEqual([HASH, PNG_HASH].toSorted());
    await present({ icon: LOGO });
    expect(await images()).toEqual([HASH]);
    await brand({ logo: GOOD_PNG });
    await present({ icon: null });
    expect(await images()).toEqual([PNG_HASH]);
    await brand({ logo: null });
    expect(await images()).toEqual([]);
    await present({ descriptionZh: null, descriptionEn: null, useUrl: null });
    const rows = await on.service.fresh.database.query('select 1 from benefit_presentations');
    expect(rows).toEqual([]);
  });

  it('survive two operators who set and remove the same one concurrently', async () => {
    for (const _ of Array.from({ length: 10 })) {
      await brand({ logo: LOGO });
      await Promise.all([brand({ logo: GOOD_PNG }), present({ icon: LOGO })]);
      expect(await images()).toEqual([HASH, PNG_HASH].toSorted());
      await Promise.all([brand({ logo: LOGO }), present({ icon: GOOD_PNG })]);
      await Promise.all([brand({ logo: null }), present({ icon: null })]);
      expect(await images()).toEqual([]);
    }
  });

  it('are served with a long lifetime, and may run nothing', async () => {
    await brand({ logo: LOGO });
    await present({ icon: GOOD_PNG });
    const logo = await on.get(`/redeem/images/${HASH}.svg`);
    expect([logo.status, logo.text]).toEqual([200, LOGO.toString()]);
    expect(logo.headers).toMatchObject({
      'content-type': 'image/svg+xml',
      'content-security-policy': `default-src 'none'; style-src 'unsafe-inline'; sandbox`,
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
    });
    const icon = await fetch(`${on.service.baseUrl}/redeem/images/${PNG_HASH}.png`);
    expect(Buffer.from(await icon.arrayBuffer()).equals(GOOD_PNG)).toBe(true);
    expect(icon.headers.get('content-type')).toBe('image/png');
    for (const name of [`${HASH}.png`, HASH, `${HASH.toUpperCase()}.svg`, `${'0'.repeat(64)}.svg`, '..%2f..%2fx']) {
      const { status, headers, text } = await on.get(`/redeem/images/${name}`);
      expect([status, text, headers['cache-control']]).toEqual([404, 'not found', 'no-store']);
    }
  });

  it('that do not exist count for the address, as do colours not requested before', async () => {
    const asked = async (path: string) => (await on.get(path)).status;
    await brand({ logo: LOGO });
    expect(await asked(`/redeem/images/${HASH}.svg`)).toBe(200);
    on.service.clock.advance(60_000);
    const css = await on.get('/redeem/accent-00aa66.css');
    expect([css.status, css.headers['content-type'], css.headers['cache-control']]).toEqual([
      200,
      'text/css; charset=utf-8',
      'public, max-age=31536000, immutable',
    ]);
    expect(css.text).toMatch(/^:root\{--accent:#/);
    for (const name of ['00AA66.css', '0a6.css', '00aa66', '00aa66.css.map', '%3b.css'])
      expect(await asked(`/redeem/accent-${name}`)).toBe(404);
    for (let left = 24; left > 0; left -= 1) {
      expect(await asked(`/redeem/images/${String(left).padStart(64, '0')}.png`)).toBe(404);
    }
    const over = await on.get(`/redeem/images/${'f'.repeat(64)}.png`);
    expect([over.status, Number(over.headers['retry-after'])]).toEqual([429, 2]);
    expect(await asked('/redeem/accent-123456.css')).toBe(429);
    // Requests for files in the node's cache are not limited.
    expect([await asked(`/redeem/images/${HASH}.svg`), await asked('/redeem/accent-00aa66.css')]).toEqual([200, 200]);
    on.service.clock.advance(60_000);
    expect(await asked('/redeem/accent-123456.css')).toBe(200);
  });
});

describe('in the console', () => {
  it('branding is read by all roles, and changed by an admin with a confirmed identity', async () => {
    await brand({ logo: null, displayName: 'Sunny', accent: 'ffff00' });
    const { body: read } = await viewer.get(`/channels/${APP_ID}/branding`);
    expect(read).toMatchObject({ displayName: 'Sunny', accent: 'ffff00', logo: null });
    expect(read.tones).toHaveLength(20);
    expect(read.tones[0]).toEqual({ theme: 'light', tone: 'accent', colour: '#ffff00', contrast: expect.any(Number) });
    const change = { logo: LOGO.toString('base64'), accent: null };
    expect((await viewer.put(`/channels/${APP_ID}/branding`, change)).status).toBe(403);
    const { status, body } = await admin.put(`/channels/${APP_ID}/branding`, change);
    expect([status, body]).toMatchObject([
      200,
      { changed: true, leftOut: [], branding: { accent: null, tones: [], logo: { file: `${HASH}.svg` } } },
    ]);
    expect((await viewer.get(`/channels/${APP_ID}`)).body.branding).toMatchObject({ displayName: 'Sunny' });
    expect((await viewer.get(`/images/${HASH}.svg`)).body).toEqual({
      mediaType: 'image/svg+xml',
      base64: LOGO.toString('base64'),
    });
    expect((await viewer.get('/images/x.svg')).status).toBe(404);
  });
});
