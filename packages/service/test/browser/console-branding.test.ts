import { readFileSync } from 'node:fs';
import type { Locator, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { createPersonWithPassword, PASSWORD } from '../console/support.js';
import { ofFile } from '../orders/stage-of-file.js';
import { SQUARE, svg } from '../pictures/samples.js';
import { stage } from '../redeem/support.js';
import { consoleBrowser, ON_THIS_MACHINE } from './console.js';
import { browserOfFile, everyViolation } from './support.js';

// Branding of the redemption page and presentation of benefits, set in the console.

const browser = browserOfFile();
const on = ofFile(() => stage(ON_THIS_MACHINE));
const at = consoleBrowser(browser, () => on.service);
beforeAll(() => createPersonWithPassword(on.service, 'ada', 'admin'));

const BRANDING = '/console/channels/test_demo?tab=branding';
const WITHOUT_SIZE = svg(SQUARE, '');
const HOSTILE = svg(
  `<script>document.documentElement.dataset.ran = 'script'</script><image href="https://elsewhere.example/x.png"/>${SQUARE}`,
  `viewBox="0 0 10 10" onload="document.documentElement.dataset.ran = 'handler'"`,
);
const DECLARES = Buffer.from(
  `<!DOCTYPE svg [<!ENTITY a "aaaa">]><svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><text>&a;</text></svg>`,
);

const file = (name: string, buffer: Buffer) => ({ name, mimeType: 'application/octet-stream', buffer });
const preview = (page: Page, theme: 'light' | 'dark') =>
  page.getByRole('img', { name: new RegExp(`: ${theme}$`, 'i') });
const variableOf = (place: Locator, name: string): Promise<string> =>
  place.evaluate(
    (element, variable) =>
      element.ownerDocument.defaultView.getComputedStyle(element).getPropertyValue(variable).trim(),
    name,
  );
/** Waits until the image has a size, which it has only if it can be drawn. */
const isDrawn = (image: Locator) =>
  expect.poll(() => image.evaluate((element) => element.naturalWidth)).toBeGreaterThan(0);
const hasFocus = (field: Locator) => field.evaluate((element) => element === element.ownerDocument.activeElement);
const isRefusedAt = async (field: Locator, words: string | RegExp) => {
  await field.page().getByText(words).waitFor();
  await expect.poll(() => hasFocus(field)).toBe(true);
  expect(await field.getAttribute('aria-invalid')).toBe('true');
};

describe('branding', () => {
  it('is previewed and saved by an admin; errors appear at their fields', async () => {
    const page = await at.person('admin', 'ada');
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).host));
    await page.goto(BRANDING);
    const save = page.getByRole('button', { name: 'Save' });
    await preview(page, 'light').getByText('D', { exact: true }).waitFor();
    expect(await save.isDisabled()).toBe(true);
    const ownColours = await Promise.all(
      (['light', 'dark'] as const).map((theme) => coloursOf((tone) => variableOf(preview(page, theme), `--${tone}`))),
    );
    expect(ownColours).toEqual(await coloursOfThePage());

    await page.getByLabel('Display name').fill('Sunny Video');
    await page.getByLabel('Accent colour', { exact: true }).fill('#fc0');
    await page.getByText('Too bright for text on white.').waitFor();
    for (const theme of ['light', 'dark'] as const) {
      expect(await variableOf(preview(page, theme), '--accent')).toBe('#ffcc00');
    }
    await page.getByLabel('Logo').setInputFiles(file('logo.png', HOSTILE));
    await isDrawn(preview(page, 'light').locator('img'));
    await page.getByLabel('Support contact').fill('ask around');
    await page.getByLabel('Terms').fill('https://sunny.example/terms');
    await page.getByLabel('Shop').fill('https://sunny.example');
    await preview(page, 'dark').getByText('Your subscription with Sunny Video').waitFor();

    await on.service.fresh.database.query(`update console_sessions set proven_at = now() - interval '6 minutes'`);
    await save.click();
    const proof = page.getByRole('dialog', { name: 'Confirm your identity' });
    await proof.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.keyboard.press('Enter');
    await isRefusedAt(page.getByLabel('Support contact'), /must be a phone number, an e-mail address or an https/);
    await page.getByLabel('Support contact').fill('400-820-0820');
    await save.click();
    await page.getByText('Saved.').first().waitFor();
    await isDrawn(preview(page, 'dark').locator('img'));
    expect(await page.getByLabel('Shop').inputValue()).toBe('https://sunny.example/');
    expect(await page.evaluate('document.documentElement.dataset.ran')).toBeUndefined();
    expect(new Set(asked)).toEqual(new Set([new URL(on.service.baseUrl).host]));
    expect(await everyViolation(page)).toEqual([]);

    // A file that is not an image, or is too large, is refused and changes nothing.
    const logo = page.getByLabel('Logo');
    await logo.setInputFiles(file('big.png', Buffer.alloc(70_000)));
    await page.getByText('The file is 68.4 KB; the limit is 64 KB').waitFor();
    await logo.setInputFiles(file('logo.svg', Buffer.from('hello')));
    await save.click();
    await isRefusedAt(logo, 'The file is neither a PNG nor an SVG in UTF-8');
    await page.getByRole('button', { name: 'Undo' }).click();
    await isDrawn(preview(page, 'light').locator('img'));
    const stored = () =>
      on.service.fresh.database.query(
        'select display_name as name, accent, logo_hash is not null as "hasLogo", support from channel_brandings',
      );
    expect(await stored()).toEqual([{ name: 'Sunny Video', accent: 'ffcc00', hasLogo: true, support: '400-820-0820' }]);
    await page.getByRole('button', { name: 'Remove' }).click();
    await page.getByLabel('Accent colour', { exact: true }).fill('');
    await preview(page, 'dark').getByText('S', { exact: true }).waitFor();
    await save.click();
    await expect.poll(stored).toMatchObject([{ accent: null, hasLogo: false }]);
  });
});

/** CSS variables of the preview. */
const TONES = ['accent', 'accent-edge', 'on-accent', 'accent-ink', 'hero-from', 'hero-to', 'hero-line', 'on-hero'];

/** Normalises a colour to six lower-case digits. */
const toColour = (text: string) => (text.length === 4 ? text.replaceAll(/[^#]/g, '$&$&') : text).toLowerCase();

const coloursOf = async (read: (tone: string) => string | Promise<string>): Promise<string[]> =>
  Promise.all(TONES.map(async (tone) => toColour(await read(tone))));

/** Returns the default colours of the redemption page, for the light and the dark theme. */
async function coloursOfThePage(): Promise<string[][]> {
  const css = readFileSync(new URL('../../assets/redeem/page.css', import.meta.url), 'utf8');
  const [light = '', dark = ''] = css.split('prefers-color-scheme: dark');
  return Promise.all([light, dark].map((part) => coloursOf((tone) => readVariable(part, tone))));
}

const readVariable = (css: string, name: string) => new RegExp(`--${name}:\\s*(#\\w+)`).exec(css)?.[1] ?? '';

describe('presentation of a benefit', () => {
  it('is set by an admin, and shown in the list', async () => {
    const page = await at.person('admin', 'ada');
    await page.goto('/console/benefits?code=VIP_PASS');
    const sheet = page.getByRole('dialog', { name: 'VIP pass', exact: true });
    await sheet.getByText('Users see the name and a gift icon').waitFor();
    await sheet.getByRole('button', { name: 'Change display' }).click();
    const dialog = page.getByRole('dialog', { name: 'Display of VIP_PASS' });
    const save = dialog.getByRole('button', { name: 'Save' });
    const icon = dialog.getByLabel('Icon');
    await icon.setInputFiles(file('icon.svg', DECLARES));
    await save.click();
    await isRefusedAt(icon, /The SVG cannot be used: its DOCTYPE has declarations/);
    await icon.setInputFiles(file('icon.svg', WITHOUT_SIZE));
    await save.click();
    await isRefusedAt(icon, /The SVG cannot be used: it has neither a viewBox nor a size/);
    await icon.setInputFiles(file('icon.svg', HOSTILE));
    await dialog.getByLabel('Description in Chinese').fill('全部影片免费看');
    await dialog.getByLabel('Description in English').fill('x'.repeat(121));
    await dialog.getByLabel('Where to use the code').fill('https://sunny.example/use');
    await save.click();
    await isRefusedAt(dialog.getByLabel('Description in English'), /must have 1 to 120 characters, not 121/);
    await dialog.getByLabel('Description in English').fill('Every film, free');
    expect(await everyViolation(page)).toEqual([]);
    await save.click();
    await sheet.getByText('全部影片免费看').waitFor();
    await isDrawn(sheet.locator('img'));
    await page.keyboard.press('Escape');
    const row = page.getByRole('row', { name: /VIP_PASS/ });
    await row.getByText('Every film, free').waitFor();
    await isDrawn(row.locator('img'));
  });
});
