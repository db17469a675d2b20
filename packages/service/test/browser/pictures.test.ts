import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setBranding } from '../../src/operator/provisioning/branding.js';
import { scrubPicture } from '../../src/platform/pictures/scrub-picture.js';
import { EXPORTS } from '../pictures/exports.js';
import { LOGO, svg } from '../pictures/samples.js';
import { type Stage, stage } from '../redeem/support.js';
import { launch, phone } from './support.js';

let on: Stage;
let browser: Browser;
beforeAll(async () => {
  [on, browser] = await Promise.all([stage(), launch()]);
});
afterAll(async () => {
  await browser.close();
  await on.close();
});

const HOSTILE = svg(
  `<script>document.documentElement.setAttribute('ran', 'script')</script>
   <style>.a{fill:#0a6b4b}</style>
   <rect class="a" width="10" height="10" onload="this.ownerDocument.documentElement.setAttribute('ran', 'handler')"/>
   <image href="/redeem/page.css?asked" width="1" height="1"/>
   <animate attributeName="x" begin="0s" dur="1s" onbegin="document.documentElement.setAttribute('ran', 'animation')"/>`,
  `viewBox="0 0 10 10" width="20" height="20" onload="this.setAttribute('ran', 'root')"`,
);

describe('a good logo', () => {
  it('is drawn as it was before it was written anew, whichever program has saved it', async () => {
    const page = await phone(browser);
    await page.goto(`${on.service.baseUrl}/healthz`);
    // Compared where they are drawn: of each picture there are 80,000 numbers.
    const compare = (...pictures: readonly (Uint8Array | string)[]) =>
      page.evaluate<{ shades: number; alike: boolean }>(`(async () => {
      const draw = async (picture) => {
        const image = new Image(200, 100);
        image.src = 'data:image/svg+xml;base64,' + picture;
        await image.decode();
        const context = document.createElement('canvas').getContext('2d');
        context.drawImage(image, 0, 0, 200, 100);
        return context.getImageData(0, 0, 200, 100).data;
      };
      const pictures = ${JSON.stringify(pictures.map((one) => Buffer.from(one).toString('base64')))};
      const [before, after] = await Promise.all(pictures.map(draw));
      return { shades: new Set(before).size, alike: before.every((value, place) => value === after[place]) };
    })()`);
    for (const [program, logo] of Object.entries({ ...EXPORTS, 'an older Illustrator': LOGO })) {
      const { bytes, leftOut } = scrubPicture(Buffer.from(logo));
      const { shades, alike } = await compare(logo, bytes);
      expect(shades, program).toBeGreaterThan(10);
      expect(alike, program).toBe(true);
      expect(leftOut, program).toEqual(logo === LOGO ? ['foreignObject'] : []);
    }
  });
});

describe('a hostile logo', () => {
  it('runs nothing and asks for nothing, opened by itself and in a page, and is drawn', async () => {
    const { branding } = await setBranding(on.service.operator, { appId: 'test_demo', logo: HOSTILE });
    const address = `${on.service.baseUrl}/redeem/images/${branding.logo?.file}`;
    const page = await phone(browser, { javaScriptEnabled: true });
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.goto(address);
    expect(await page.locator('svg').getAttribute('ran')).toBeNull();
    expect(await page.locator('rect').getAttribute('fill')).toBe('#0a6b4b');
    expect(asked).toEqual([address]);
    await page.goto(`${on.service.baseUrl}/healthz`);
    const drawn = await page.evaluate<[number, number, number[]]>(`(async () => {
      const image = new Image();
      image.src = ${JSON.stringify(address)};
      document.body.append(image);
      await image.decode();
      const canvas = document.createElement('canvas');
      const context = canvas.getContext('2d');
      context.drawImage(image, 0, 0);
      return [image.naturalWidth, image.naturalHeight, [...context.getImageData(10, 10, 1, 1).data]];
    })()`);
    expect(drawn).toEqual([20, 20, [0x0a, 0x6b, 0x4b, 255]]);
  });

  it('could do nothing either if it were served as it was sent', async () => {
    const hash = 'ab'.repeat(32);
    await on.service.fresh.database.query(
      `insert into images (image_hash, media_type, bytes) values ($1, 'image/svg+xml', $2)`,
      [hash, HOSTILE],
    );
    // Not by `phone`: that the policy refuses a script is a complaint here.
    const page = await browser.newPage();
    const asked: string[] = [];
    page.on('requestfinished', (request) => asked.push(request.url()));
    await page.goto(`${on.service.baseUrl}/redeem/images/${hash}.svg`);
    expect(await page.locator('script').count()).toBe(1);
    expect(await page.locator('svg').getAttribute('ran')).toBeNull();
    expect(asked).toHaveLength(1);
    await page.close();
  });
});
