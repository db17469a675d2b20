import { expect, it } from 'vitest';
import { operatorStage } from '../console/operators.js';
import { ofFile } from '../orders/stage-of-file.js';
import { claimsOf, codesOf, formOf, get, post } from '../redeem/support.js';
import { consoleBrowser, ON_THIS_MACHINE } from './console.js';
import { browserOfFile } from './support.js';

const browser = browserOfFile();
const on = ofFile(() => operatorStage(ON_THIS_MACHINE));
const pages = consoleBrowser(browser, () => on.service);
const HOST = ON_THIS_MACHINE.publicUrl();

it('support helps a user whose code does not work, and says whether a link is ours', async () => {
  const orderNo = await on.collectedOrder();
  const path = String((await on.query(orderNo))['redeemUrl']).slice(HOST.length);
  const first = await get(on.service.baseUrl, path);
  const [[, claim = ''] = []] = claimsOf(first);
  await post(on.service.baseUrl, '/redeem/claim', { ...formOf(first), claim });
  const codeOfUser = async () => codesOf(await get(on.service.baseUrl, path))[0] ?? '';
  const former = await codeOfUser();
  const page = await pages.person('support', 'mei');
  const searchFor = async (text: string) => {
    await page.keyboard.press('Control+k');
    await page.getByRole('textbox', { name: /Order, payment, refund/ }).fill(text);
  };

  // The user reads the code to support.
  await page.goto('/console');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await searchFor(former);
  await page
    .getByRole('dialog')
    .getByText(/benefit code/)
    .waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: `Order ${orderNo}` }).waitFor();

  const benefits = page.getByRole('table', { name: /^Benefits/ });
  await benefits.getByText(/^Shown /).waitFor();
  await benefits.getByRole('button', { name: 'Show code' }).click();
  const reveal = page.getByRole('dialog', { name: /^Show the code of/ });
  await reveal.getByLabel('Reason').fill('the user reads it to me');
  await reveal.getByRole('button', { name: 'Show' }).click();
  await benefits.getByText(former).waitFor();

  await benefits.getByRole('button', { name: 'Replace…' }).click();
  const replace = page.getByRole('dialog', { name: /^Replace the code of/ });
  await replace.getByLabel('Reason').fill('the shop refuses it');
  await replace.getByRole('button', { name: 'Replace code' }).click();
  await page.getByText('The code was replaced', { exact: true }).waitFor();
  await benefits.getByText('Replaced 1 time').waitFor();
  expect(await benefits.getByText(former).count()).toBe(0);
  await page.getByRole('list', { name: 'History' }).getByText('Replaced a code of period 1').waitFor();
  const current = await codeOfUser();
  expect(current).toMatch(/^[2-9A-Z]{16}$/);
  expect(current).not.toBe(former);

  await page.getByRole('button', { name: 'Redemption link…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Create link' }).click();
  const link = (
    await page
      .getByRole('dialog')
      .getByText(/\/redeem\?/)
      .innerText()
  ).trim();
  expect((await get(on.service.baseUrl, link.slice(HOST.length))).status).toBe(200);
  await page.keyboard.press('Escape');

  // Another user asks whether a link is ours.
  await searchFor(`is this yours? ${link}`);
  await page
    .getByRole('dialog')
    .getByText(/^Ours, and it opens until/)
    .waitFor();
  await searchFor(link.replace(HOST, 'https://perennial.example.test'));
  await page
    .getByRole('dialog')
    .getByText(/perennial\.example\.test is not our address/)
    .waitFor();
  await searchFor('https://perennial.example.test/redeem?orderNo=1');
  await page
    .getByRole('dialog')
    .getByText(/was not made by this installation/)
    .waitFor();
});

it('finance prepares refunds from a pasted list, a file, and the payments of a day', async () => {
  const orders = await Promise.all([on.paidOrder(), on.paidOrder()]);
  const page = await pages.person('finance', 'ann');
  await page.goto('/console/bulk');
  const prepare = async (fill: (dialog: ReturnType<typeof page.getByRole>) => Promise<unknown>) => {
    await page.getByRole('button', { name: 'New run…' }).click();
    const dialog = page.getByRole('dialog', { name: 'New bulk run' });
    await fill(dialog);
    await dialog.getByLabel('Reason').fill('charged twice');
    await dialog.getByRole('button', { name: 'Dry run' }).click();
    await page.getByText('Dry run: nothing has been changed yet').waitFor();
  };

  await prepare((dialog) => dialog.getByRole('textbox', { name: 'Numbers' }).fill([...orders, 'nobody-7'].join('\n')));
  await page.getByText('List of numbers: 3').waitFor();
  await page.getByText('2 items will be processed').waitFor();
  await page.getByText('line 3 of the list, "nob****dy-7", is no number of an order or a payment').first().waitFor();

  await page.goto('/console/bulk');
  await prepare((dialog) =>
    dialog
      .getByLabel('Or a file')
      .setInputFiles({ name: 'june.txt', mimeType: 'text/plain', buffer: Buffer.from(`${orders[0]}0001\n`) }),
  );
  await page.getByText('List of numbers: 1, File: june.txt').waitFor();
  await page.getByText('1 item will be processed').waitFor();

  await page.goto('/console/bulk');
  await prepare(async (dialog) => {
    await dialog.getByText('Payment day').click();
    await dialog.getByLabel('Paid on (Beijing time)').click();
    await page.getByRole('button', { name: 'Today' }).click();
  });
  await page.getByText(/^All that match Paid before: .*, Paid from: /).waitFor();
  await page.getByText(/items will be processed/).waitFor();
});
