import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setBranding } from '../../src/operator/provisioning/branding.js';
import { svg } from '../pictures/samples.js';
import { type Stage, stage } from '../redeem/support.js';
import { launch } from './support.js';

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

describe('a hostile logo', () => {
  it('runs nothing and asks for nothing, opened by itself and in a page, and is drawn', async () => {
    const { branding } = await setBranding(on.service.operator, { appId: 'test_demo', logo: HOSTILE });
    const address = `${on.service.baseUrl}/redeem/images/${branding.logo?.file}`;
    // Not by `phone`: that the policy refuses a script is a complaint here.
    const page = await browser.newPage();
    const asked: string[] = [];
    page.on('requestfinished', (request) => asked.push(request.url()));
    await page.goto(address);
    expect(await page.locator('script').count()).toBe(1);
    expect(await page.locator('svg').getAttribute('ran')).toBeNull();
    expect(asked).toEqual([address]);
    await page.goto(`${on.service.baseUrl}/healthz`);
    asked.length = 0;
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
    expect(asked.filter((url) => url !== address)).toEqual([]);
    await page.close();
  });
});
