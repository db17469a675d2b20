import { expect, it } from 'vitest';
import { ofFile } from '../orders/stage-of-file.js';
import { testService } from '../support/service.js';
import { consoleBrowser, ON_THIS_MACHINE } from './console.js';
import { browserOfFile } from './support.js';

/** Cell 2 does not answer. */
const OTHER = 'http://127.0.0.1:1/console';
const cells = [{ cell: 0 }, { cell: 2, console: OTHER }];
const browser = browserOfFile();
const service = ofFile(() => testService({ ...ON_THIS_MACHINE, cell: 0, cells }));
const at = consoleBrowser(browser, () => service);

it('the header links to the consoles of other cells, and to the figures of all', async () => {
  const page = await at.person('viewer');
  await page.goto('/console/');
  await page.getByRole('button', { name: 'Cell 0' }).click();
  expect(await page.getByRole('menuitem', { name: 'Cell 2' }).getAttribute('href')).toBe(OTHER);
  await page.getByRole('menuitem', { name: 'All cells' }).click();
  await page.getByRole('heading', { level: 1, name: 'All cells' }).waitFor();
  const row = page.getByRole('row', { name: /Cell 2/ });
  await row.getByText('No answer').waitFor();
  expect(await row.getByRole('link').getAttribute('href')).toBe(OTHER);
  await page.getByRole('row', { name: /Total/ }).waitFor();
});
