import { readFile } from 'node:fs/promises';
import type { Locator, Page } from 'playwright-core';
import { beforeEach, describe, expect, it } from 'vitest';
import { raiseAlert } from '../../src/alerts/alerts-sql.js';
import { operatorStage } from '../console/operators.js';
import { ofFile } from '../orders/stage-of-file.js';
import { declined } from '../renewals/support.js';
import { mobileOf, sharedRequest, unique } from '../support/demo.js';
import { createSendingNode, registerReceiver } from '../webhooks/sending.js';
import { consoleBrowser, ON_THIS_MACHINE } from './console.js';
import { browserOfFile } from './support.js';

// The main tasks of each area of the console.

const browser = browserOfFile();
const on = ofFile(() =>
  operatorStage({ ...ON_THIS_MACHINE, localCallbacks: true, refundApprovalCent: 1_000, requestLog: true }),
);
const receiver = ofFile(() => registerReceiver(on.service, on.channel));
const at = consoleBrowser(browser, () => on.service);
// One page for each operator.
const vera = at.loaded('viewer', 'vera');
const sam = at.loaded('support', 'sam');
const ann = at.loaded('finance', 'ann');
const bob = at.loaded('finance', 'bob');
const ada = at.loaded('admin', 'ada');
beforeEach(() => on.bank.reset());

const APP_ID = 'test_demo';
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });
const button = (within: Page | Locator, name: string | RegExp) =>
  within.getByRole('button', { name, ...(typeof name === 'string' ? { exact: true } : {}) });
const rowsOf = (page: Page) => page.getByRole('table').locator('tbody').getByRole('row');
const bookedCents = () => [...on.bank.booked.values()].map(({ amountCent }) => amountCent);
/** Opens a page from the menu, whose entries may have a count. */
const choosePage = (page: Page, name: string) =>
  page
    .getByRole('navigation', { name: 'Main menu' })
    .getByRole('link', { name: new RegExp(`^${name}( \\d+ [a-z ]+)?$`) })
    .click();
/** Chooses an option of a combobox. */
async function choose(within: Page | Locator, label: string, option: string | RegExp): Promise<void> {
  const field = within.getByRole('combobox', { name: label });
  await field.click();
  await field.page().getByRole('option', { name: option }).click();
}
async function download(page: Page): Promise<string[]> {
  const [file] = await Promise.all([page.waitForEvent('download'), button(page, 'Export CSV').click()]);
  return (await readFile(await file.path(), 'utf8')).trim().split('\n');
}

describe('orders', () => {
  it('keep their filter in the address and in the export; a viewer sees no personal data', async () => {
    const channelUserId = unique('user');
    const active = await on.paidOrder();
    const ended = await on.paidOrder({ channelUserId });
    await on.channel.call('orders/unsubscribe', { orderNo: ended });
    const page = await vera('/orders');
    const link = page.getByRole('link', { name: ended });
    const other = page.getByRole('link', { name: active });
    await other.waitFor();
    await page.getByRole('toolbar', { name: 'Status' }).getByRole('button', { name: 'Unsubscribed' }).click();
    await other.waitFor({ state: 'detached' });
    expect(new URL(page.url()).search).toBe('?status=UNSUBSCRIBED');
    await page.reload();
    await page.getByText('1 order', { exact: true }).waitFor();
    await link.click();
    await heading(page, `Order ${ended}`).waitFor();
    await page.getByText('Details').waitFor();
    expect(await button(page, 'Show').count()).toBe(0);
    const text = await page.locator('main').innerText();
    expect(text).not.toContain(channelUserId);
    expect(text).not.toContain(mobileOf(channelUserId));
    await page.goBack();
    await link.waitFor();
    expect(new URL(page.url()).search).toBe('?status=UNSUBSCRIBED');
    const lines = await download(page);
    expect(lines).toHaveLength(2);
    expect(lines[1]).toMatch(new RegExp(`^"${ended}\\t",.*UNSUBSCRIBED`));
    await page.getByText('1 order exported').waitFor();
    await button(page, 'Clear filters').click();
    await other.waitFor();
    expect(new URL(page.url()).search).toBe('');
  });
});

describe('an order', () => {
  it('has a timeline of past and future, and is unsubscribed with a preview and a reason; support may only request a refund', async () => {
    const orderNo = await on.paidOrder();
    const page = await sam(`/orders/${orderNo}`);
    const next = page.getByRole('list', { name: 'Next' }).getByRole('listitem');
    await next
      .first()
      .getByText(/Period 2/)
      .first()
      .waitFor();
    await button(page, 'Request refund…').waitFor();
    expect(await button(page, 'Refund…').count()).toBe(0);
    const past = page.getByRole('list', { name: 'History' });
    const created = past.getByText('Order created');
    await created.waitFor();
    const shown = page.getByRole('toolbar', { name: 'Show' });
    await button(shown, /^Money/).click();
    await created.waitFor({ state: 'detached' });
    expect(new URL(page.url()).search).toBe('?show=money');
    await button(past, /^JSON of: Period 1 paid/).click();
    await past.getByText('"paymentChannelCode": "MOCKPAY"').first().waitFor();

    await button(page, 'More').click();
    await page.getByRole('menuitem', { name: 'Unsubscribe…' }).click();
    const dialog = page.getByRole('dialog', { name: `Unsubscribe order ${orderNo}?` });
    await dialog.getByText('11 periods will be voided').waitFor();
    await dialog.getByText('¥218.90 will no longer be collected').waitFor();
    expect(await button(dialog, 'Unsubscribe').isDisabled()).toBe(true);
    await dialog.getByLabel('Reason').fill('asked on the phone');
    await button(dialog, 'Unsubscribe').click();
    await page.getByText(/^Nothing more will be collected: unsubscribed by an operator on/).waitFor();
    expect(await on.query(orderNo)).toMatchObject({ orderStatus: 'UNSUBSCRIBED' });
  });
});

describe('the page of an order', () => {
  it('drops what was typed on the page of another order, also if its data is cached', async () => {
    const [first, second] = [await on.paidOrder(), await on.paidOrder()];
    const page = await sam(`/orders/${first}`);
    const note = page.getByLabel('Write a note');
    await note.waitFor();
    await page.evaluate(`history.pushState(null, '', '/console/orders/${second}')`);
    await heading(page, `Order ${second}`).waitFor();
    await note.fill('about the second order');
    await page.goBack();
    await heading(page, `Order ${first}`).waitFor();
    expect(await note.inputValue()).toBe('');
  });
});

describe('an order whose first debit failed', () => {
  it('is shown as terminated, with the reason', async () => {
    const usual = on.institution.onDebit;
    on.institution.onDebit = async () => declined('final');
    const { data } = await on.channel.call('orders/create', sharedRequest(on.channel));
    on.institution.onDebit = usual;
    expect(data).toMatchObject({ orderStatus: 'TERMINATED' });
    const page = await vera(`/orders/${data.orderNo}`);
    await page.getByText('Order terminated: its first debit failed. No further steps').waitFor();
    await page.getByText('Order terminated: its first debit failed', { exact: true }).waitFor();
    expect(await page.locator('main').innerText()).not.toContain('a period failed for good');
  });
});

describe('a user', () => {
  it('is unmasked with a reason, which is recorded; orders, agreements and refunds are on one page', async () => {
    const channelUserId = unique('person');
    const orderNo = await on.paidOrder({ channelUserId });
    await on.refund({ orderNo, cycleNo: 1, amountCent: 100 });
    const mobile = mobileOf(channelUserId);
    const page = await sam(`/orders/${orderNo}`);
    const show = async () => {
      await button(page, 'Show').click();
      const dialog = page.getByRole('dialog', { name: 'Show personal data?' });
      expect(await button(dialog, 'Show').isDisabled()).toBe(true);
      await dialog.getByLabel('Reason').fill('calls back');
      await button(dialog, 'Show').click();
      await page.getByText(mobile, { exact: true }).waitFor();
    };
    await show();
    const looked = page.getByRole('listitem').filter({ hasText: 'Viewed personal data' });
    await looked.getByText('by sam').waitFor();
    await looked.getByText('calls back').waitFor();
    await page.reload();
    await looked.waitFor();
    expect(await page.getByText(mobile, { exact: true }).count()).toBe(0);

    await page.getByRole('link', { name: channelUserId }).click();
    await heading(page, channelUserId).waitFor();
    const table = (name: RegExp) => page.getByRole('table', { name });
    await table(/^Orders of this user/)
      .getByText(orderNo)
      .waitFor();
    await table(/^Refunds of this user/)
      .getByText(`R${orderNo}000101`)
      .waitFor();
    await table(/^Agreements of this user/)
      .getByText('4567')
      .waitFor();
    await show();
  });
});

describe('failed payments', () => {
  it('are retried in bulk: dry run, typed confirmation, progress, and results that survive a reload', async () => {
    const orders = [await on.paidOrder(), await on.paidOrder(), await on.paidOrder()];
    for (const orderNo of orders) await on.renewNow(orderNo, 'retryable');
    const chosen = orders.slice(0, 2);
    const page = await sam('/payments?tab=failed');
    const dialog = page.getByRole('dialog', { name: 'Retry payments' });
    await button(page, 'Retry all matching…').click();
    await dialog.getByLabel('Reason').fill('all of them');
    await button(dialog, 'Dry run').click();
    await page.getByText('All that match Status: FAIL_RETRY').waitFor();
    await page.goBack();

    for (const orderNo of chosen) await page.getByRole('checkbox', { name: `Select ${orderNo}-2` }).check();
    await page.getByText('2 selected · ¥39.80').waitFor();
    await button(page, 'Retry now…').click();
    await dialog.getByText('2 items selected.').waitFor();
    await dialog.getByLabel('Reason').fill('the bank is back');
    await button(dialog, 'Dry run').click();

    await page.getByText('Dry run: nothing has been changed yet').waitFor();
    await page.getByText('2 items will be processed').waitFor();
    await page.getByText('Selected individually').waitFor();
    expect(await on.workOff()).toBe(0);
    const start = button(page, 'Start');
    const words = page.getByLabel('Type RETRY 2 to confirm');
    await words.fill('RETRY 3');
    expect(await start.isDisabled()).toBe(true);
    await words.fill('RETRY 2');
    await start.click();
    await page.getByText('The run continues in the background').waitFor();
    expect(await on.workOff()).toBe(2);
    await page.getByText('2 items were sent and have no final result yet.').waitFor();
    await page.getByText('2 pending').waitFor();
    await on.renew();
    expect(await on.follow()).toBe(2);
    await page.getByText('All items succeeded.').waitFor();
    await page.reload();
    await page.getByText('2 succeeded', { exact: true }).waitFor();
    for (const orderNo of chosen) {
      const row = rowsOf(page).filter({ hasText: `${orderNo}-2` });
      await row.getByText('Done').first().waitFor();
      await row.getByText('the debit succeeded').waitFor();
    }
    expect(await rowsOf(page).count()).toBe(2);
    for (const orderNo of chosen) expect(await on.queryPeriod(orderNo, 2)).toMatchObject({ paymentStatus: 'SUCCESS' });
  });
});

describe('a refund', () => {
  it('whose answer was lost is not repeated by a resend, also in another tab', async () => {
    const orderNo = await on.paidOrder();
    const page = await ann(`/orders/${orderNo}`);
    let lost = 0;
    await page.route('**/refund', async (route) => {
      if (lost++ > 0) return route.continue();
      await route.fetch();
      await route.abort();
    });
    const dialog = page.getByRole('dialog', { name: 'Refund' });
    await button(page, 'Refund…').click();
    await dialog.getByLabel('Note').fill('late delivery');
    await dialog.getByLabel('Amount in CNY').fill('100');
    await dialog.getByText('Enter an amount from 0.01 to 19.90.').waitFor();
    await dialog.getByLabel('Amount in CNY').fill('3.00');
    await dialog.getByText('¥3.00 will be refunded to the user').waitFor();
    await button(dialog, 'Refund ¥3.00').click();
    await dialog.getByText('The service does not answer').waitFor();
    expect(bookedCents()).toEqual([300]);
    // The console has read the order again, and the order now includes the refund.
    const arrived = /^Your earlier refund of ¥3\.00 was received; only its answer was lost\./;
    await dialog.getByText('At most ¥16.90').waitFor();
    await dialog.getByText(arrived).waitFor();

    const other = await page.context().newPage();
    await other.goto(`/console/orders/${orderNo}`);
    const again = other.getByRole('dialog', { name: `Refund period 1 of order ${orderNo}` });
    await button(other, 'Refund…').click();
    await again.getByText(arrived).waitFor();
    expect(await again.getByLabel('Amount in CNY').inputValue()).toBe('3.00');
    await again.getByLabel('Note').fill('late delivery');
    await button(again, 'Refund ¥3.00').click();
    await other.getByText('¥3.00 refunded').waitFor();
    await again.waitFor({ state: 'detached' });
    expect(bookedCents()).toEqual([300]);

    // After the answer, the next refund counts as a new one, with no note about the earlier one.
    await button(other, 'Refund…').click();
    await again.getByText('At most ¥16.90').waitFor();
    expect(await again.getByText(arrived).count()).toBe(0);
    expect(await again.getByLabel('Amount in CNY').inputValue()).toBe('16.90');
    await other.close();
    await page.unroute('**/refund');
  });

  it('above the limit is requested by one operator and approved by another', async () => {
    const orderNo = await on.paidOrder();
    const asking = await ann(`/orders/${orderNo}`);
    await button(asking, 'Refund…').click();
    const dialog = asking.getByRole('dialog', { name: 'Refund' });
    await dialog.getByText(/^Above the limit/).waitFor();
    await dialog.getByLabel('Note').fill('a month without service');
    await button(dialog, 'Request approval').click();
    await asking.getByText('Approval requested for ¥19.90').waitFor();
    // The approval request is shown at the period and instead of the Refund button.
    const waits = asking.getByRole('link', { name: '¥19.90 needs approval' });
    await expect.poll(() => waits.count()).toBe(2);
    expect(await button(asking, 'Refund…').count()).toBe(0);
    await asking
      .getByRole('table', { name: /^Periods/ })
      .getByRole('link', { name: '¥19.90 needs approval' })
      .click();
    await asking.getByText('You requested this. Another finance operator has to decide.').waitFor();
    expect(await button(asking, 'Approve').count()).toBe(0);
    expect(new URL(asking.url()).searchParams.get('open')).toMatch(/^\d+$/);
    expect(bookedCents()).toEqual([]);

    const deciding = await bob('/approvals');
    await button(deciding, /^Refund of period 1/).click();
    const sheet = deciding.getByRole('dialog', { name: 'Refund of period 1' });
    await sheet.getByText('a month without service').waitFor();
    await sheet.getByText('¥19.90 will be refunded to the user').waitFor();
    await sheet.getByLabel('Note').fill('looked it up');
    await button(sheet, 'Approve').click();
    await sheet.getByText('Result', { exact: true }).waitFor();
    await sheet.getByText(`R${orderNo}000101`).waitFor();
    expect(bookedCents()).toEqual([1990]);
    await sheet.getByRole('link', { name: orderNo }).click();
    const past = deciding.getByRole('list', { name: 'History' });
    await past.getByText('Requested approval for a refund of period 1').waitFor();
    await past.getByText('Approved a refund').waitFor();
    const sent = past.getByRole('listitem').filter({ hasText: 'Sent the refund of period 1 that ann requested' });
    await sent.getByText('by bob').waitFor();
    expect(await deciding.getByText('needs approval').count()).toBe(0);
    // The button that appears on hover does not cover the amount.
    await sent.hover();
    const json = await button(sent, /^JSON of/).boundingBox();
    const amount = await sent.getByText('¥19.90').boundingBox();
    expect((amount?.x ?? 0) + (amount?.width ?? 0)).toBeLessThanOrEqual(json?.x ?? 0);
  });
});

describe('support:', () => {
  it('lists events per channel, replays one, pauses and resumes deliveries, and sends a test event', async () => {
    const orderNo = await on.paidOrder();
    const sender = createSendingNode(on.service);
    await sender.turn();
    const page = await sam('/events');
    const line = page
      .getByRole('table', { name: /^Delivery status/ })
      .locator('tbody')
      .getByRole('row');
    await line.filter({ hasText: 'Up to date' }).getByRole('link').first().click();
    await page.getByRole('button', { name: 'Pause or resume' }).waitFor();

    await page.getByLabel('Order number').fill(orderNo);
    await page.keyboard.press('Enter');
    const rows = page.getByRole('table').locator('tbody').getByRole('row');
    await expect.poll(() => rows.count()).toBe(2);
    const before = receiver.pushes.length;
    await rows.first().getByRole('button').first().click();
    const sheet = page.getByRole('dialog', { name: 'Event', exact: true });
    await sheet.getByText('First push').waitFor();
    await sheet.getByRole('button', { name: 'Replay' }).click();
    const question = page.getByRole('dialog', { name: 'Replay 1 event?' });
    await question.getByRole('button', { name: 'Replay' }).click();
    await page.getByText('1 event will be sent again').waitFor();
    await sender.turn();
    await sender.stop();
    expect(receiver.pushes.length).toBe(before + 1);
    await question.waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    await sheet.waitFor({ state: 'detached' });

    await page.getByRole('button', { name: 'Pause or resume' }).click();
    const deliveries = page.getByRole('dialog', { name: /^Deliveries to/ });
    const all = deliveries.getByRole('switch', { name: 'Deliver: All events' });
    await all.click();
    await page.getByText(/^Paused: /).waitFor();
    await page.getByRole('heading', { level: 1 }).getByText('Paused').waitFor();
    await expect.poll(() => all.isEnabled()).toBe(true);
    await all.click();
    await page.getByText(/^Resumed: /).waitFor();
    await deliveries.getByRole('button', { name: 'Close' }).last().click();
    await deliveries.waitFor({ state: 'detached' });

    await page.getByRole('button', { name: 'Send test event' }).click();
    const test = page.getByRole('dialog', { name: /^Test event to/ });
    await test.getByRole('button', { name: 'Send' }).click();
    await test.getByText('Accepted').waitFor();
    await test.getByText('200', { exact: true }).waitFor();
    await receiver.until(before + 2);
    expect(receiver.forged).toEqual([]);
  });

  it('gives alerts an owner and a comment, and acknowledges them', async () => {
    const orderNo = await on.paidOrder();
    await raiseAlert(on.service.fresh.database, 'debit-contradiction', `${orderNo}000101`, 'it said both');
    const page = await sam('/alerts');
    await rowsOf(page).getByRole('button', { name: 'Contradicting debit results' }).click();
    const sheet = page.getByRole('dialog', { name: 'Contradicting debit results' });
    await sheet.getByText('it said both').waitFor();
    await sheet.getByRole('button', { name: 'Owner: Unassigned' }).click();
    await page.getByRole('menuitem', { name: 'Assign to me' }).click();
    await sheet.getByRole('button', { name: 'Owner: sam (you)' }).waitFor();
    await sheet.getByLabel('Write a comment').fill('asked the institution');
    await sheet.getByRole('button', { name: 'Comment' }).click();
    await sheet.getByRole('listitem').getByText('asked the institution').waitFor();
    await sheet.getByRole('button', { name: 'Acknowledge' }).click();
    await sheet.getByText('Acknowledged by sam').waitFor();
    await sheet.getByRole('link', { name: 'Open order' }).click();
    await heading(page, `Order ${orderNo}`).waitFor();
    await choosePage(page, 'Alerts');
    await page.getByText('No open alerts').waitFor();
  });

  it('sees why API requests of a channel were refused', async () => {
    const requestId = unique('refused');
    const { code, envelope } = await on.channel.call('orders/query', { orderNo: 'x'.repeat(100) }, { requestId });
    const path = `/channels/${APP_ID}/requests?requestId=${requestId}`;
    await expect.poll(async () => (await on.viewer.get(path)).body.requests.length).toBe(1);
    const page = await sam('/requests');
    await choose(page, 'Channel', /test_demo|Demo/i);
    await page.getByRole('row').filter({ hasText: requestId }).getByText(code).waitFor();
    await page.getByRole('row').filter({ hasText: requestId }).getByText(envelope.message).waitFor();
    await page.getByLabel('Request ID').first().fill(requestId);
    await page.keyboard.press('Enter');
    await expect.poll(() => rowsOf(page).count()).toBe(1);
    await rowsOf(page).getByRole('button', { name: '/openapi/v1/orders/query' }).click();
    await page.getByRole('dialog', { name: 'Request' }).getByText('127.0.0.1').waitFor();
  });
});

describe('an admin:', () => {
  it('creates a channel whose secrets are shown once, and rolls a secret with an overlap', async () => {
    const page = await ada('/audit');
    await choosePage(page, 'Channels');
    await page.getByRole('button', { name: 'New channel' }).click();
    const form = page.getByRole('dialog', { name: 'New channel' });
    await form.getByLabel('Name').fill('Night shop');
    await form.getByRole('button', { name: 'Create channel' }).click();
    const secrets = page.getByRole('dialog', { name: 'Secrets of Night shop' });
    const done = secrets.getByRole('button', { name: 'Done' });
    await done.waitFor();
    const shown = await secrets.getByRole('definition').allTextContents();
    expect(shown.length).toBe(5);
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      secrets.getByRole('button', { name: 'Download' }).click(),
    ]);
    const names = ['BASE_URL', 'APP_ID', 'APP_SECRET', 'AES_KEY', 'CALLBACK_SECRET'];
    expect(await readFile(await file.path(), 'utf8')).toBe(
      names.map((name, place) => `PERENNIAL_${name}=${shown[place]?.trim()}\n`).join(''),
    );
    expect(shown[0]?.trim()).toBe('http://127.0.0.1');
    await page.keyboard.press('Escape');
    expect(await done.isDisabled()).toBe(true);
    // Leaving the page would lose the secrets.
    await page.evaluate('history.back()');
    await secrets.getByText('You cannot leave this page yet').waitFor();
    expect(await secrets.getByRole('definition').allTextContents()).toEqual(shown);
    await secrets.getByRole('checkbox', { name: 'I have stored it' }).check();
    await done.click();
    await page.getByRole('heading', { name: 'Night shop' }).waitFor();
    await page.reload();
    await page.getByRole('tab', { name: 'Secrets' }).click();
    await page.getByText('Secrets are shown only once').waitFor();
    const text = (await page.locator('body').textContent()) ?? '';
    for (const secret of shown.slice(2)) expect(text).not.toContain(secret.trim());

    await page.getByRole('button', { name: 'Replace secrets' }).click();
    await page.getByRole('button', { name: 'Create new secrets' }).click();
    await secrets.getByRole('checkbox', { name: 'I have stored it' }).check();
    expect(await secrets.getByRole('definition').count()).toBe(1);
    await done.click();
    await page.getByText('The former app secret is valid until').waitFor();
  });

  it('imports codes of a benefit from a file', async () => {
    const page = await ada('/benefits');
    await page.getByRole('button', { name: 'COUPON' }).click();
    const sheet = page.getByRole('dialog', { name: 'COUPON' });
    await sheet.getByRole('button', { name: 'Change source' }).click();
    const source = page.getByRole('dialog', { name: 'Code source of COUPON' });
    await source.getByRole('radio', { name: 'Pool' }).check();
    await source.getByRole('button', { name: 'Save' }).click();
    await source.waitFor({ state: 'detached' });
    await sheet.getByRole('button', { name: 'Import codes' }).click();
    const form = page.getByRole('dialog', { name: 'Import codes for COUPON' });
    await form.getByLabel('File with codes').setInputFiles({
      name: 'codes.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from('CODE-0001\nCODE-0002\nCODE-0002\nCODE-0003\n'),
    });
    await form.getByRole('button', { name: 'Import' }).click();
    const result = page.getByRole('dialog', { name: 'Codes imported' });
    await result.getByText('Repeated in the file').waitFor();
    expect((await result.getByRole('definition').allTextContents()).map(Number)).toEqual([3, 0, 1, 0, 3]);
    await result.getByRole('button', { name: 'Done' }).click();
    await sheet.getByText('3', { exact: true }).first().waitFor();
  });

  it('creates a new version of a product, which channels then sell', async () => {
    const page = await ada('/products/TEST_SPU_001');
    await page.getByRole('button', { name: 'New version' }).click();
    const form = page.getByRole('dialog', { name: /^New version of/ });
    await form.getByLabel('Amount per period').fill('25.00');
    await form.getByRole('button', { name: 'Create version' }).click();
    await page.getByText('TEST_SPU_001_V2 created').waitFor();
    await choosePage(page, 'Products');
    await rowsOf(page).filter({ hasText: 'TEST_SPU_001_V2' }).getByRole('link').click();
    await page.getByText('¥25.00 per month').first().waitFor();
    await page.getByRole('link', { name: 'v1' }).waitFor();
    const { data } = await on.channel.call('products/list', {});
    expect(JSON.stringify(data)).toContain('TEST_SPU_001_V2');
  });

  it('creates an account, and the audit log shows who did', async () => {
    const page = await ada('/audit');
    await choosePage(page, 'Operators');
    await page.getByRole('button', { name: 'New operator' }).click();
    const form = page.getByRole('dialog', { name: 'New operator' });
    await form.getByLabel('Name').fill('dora');
    await form.getByRole('radio', { name: 'Finance' }).check();
    await form.getByRole('button', { name: 'Create account' }).click();
    const link = page.getByRole('dialog', { name: 'Link for dora' });
    await link.getByText(/\/console\/setup#[\w-]{32}/).waitFor();
    await page.evaluate('history.back()');
    await link.getByText('You cannot leave this page yet').waitFor();
    await link.getByText(/\/console\/setup#[\w-]{32}/).waitFor();
    await link.getByRole('button', { name: 'Done' }).click();
    await rowsOf(page).filter({ hasText: 'dora' }).getByText('Finance').waitFor();

    const reading = await vera('/audit?action=person.create');
    const row = rowsOf(reading).filter({ hasText: 'dora' });
    await row.getByText('ada').first().waitFor();
    await row.getByText('Created an account').waitFor();
    expect(await reading.getByRole('button', { name: 'Verify integrity' }).count()).toBe(0);
    await choosePage(page, 'Audit log');
    await page.getByRole('button', { name: 'Verify integrity' }).click();
    await page.getByText(/The log is intact/).waitFor();
  });
});
