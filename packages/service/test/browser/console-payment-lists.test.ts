import { readFile } from 'node:fs/promises';
import type { Locator, Page } from 'playwright-core';
import { beforeEach, describe, expect, it } from 'vitest';
import { operatorStage } from '../console/operators.js';
import { ofFile } from '../orders/stage-of-file.js';
import { declined } from '../renewals/support.js';
import { unique } from '../support/demo.js';
import { consoleBrowser, ON_THIS_MACHINE } from './console.js';
import { browserOfFile } from './support.js';

/** The lists of debits and refunds, refunds that support requests, and notes that mention an operator. */

const browser = browserOfFile();
const on = ofFile(() => operatorStage({ ...ON_THIS_MACHINE, refundApprovalCent: 0 }));
const at = consoleBrowser(browser, () => on.service);
const vera = at.loaded('viewer', 'vera');
const sam = at.loaded('support', 'sam');
const ann = at.loaded('finance', 'ann');
beforeEach(() => on.bank.reset());

const button = (within: Page | Locator, name: string | RegExp) =>
  within.getByRole('button', { name, ...(typeof name === 'string' ? { exact: true } : {}) });
const menu = (page: Page) => page.getByRole('navigation', { name: 'Main menu' });
const rowsOf = (page: Page) => page.getByRole('table').locator('tbody').getByRole('row');
const rowOf = (page: Page, orderNo: string) => rowsOf(page).filter({ hasText: orderNo });

describe('debits and refunds', () => {
  it('without a final result are found from the overview, and settled by asking now', async () => {
    const orders = [await on.paidOrder(), await on.paidOrder()];
    on.institution.onDebit = async () => ({ kind: 'unknown' });
    for (const orderNo of orders) await on.renewNow(orderNo);
    on.institution.reset();
    on.bank.onRefund = async () => ({ kind: 'unknown' });
    const refunded = await on.paidOrder();
    await on.refund({ orderNo: refunded, cycleNo: 1, amountCent: 300 });
    for (const table of ['debit_attempts', 'refunds'])
      await on.sql(`update ${table} set ask_at = now() + interval '1 hour' where ask_at is not null`);

    const page = await sam('/');
    const tile = page.getByRole('link', { name: /^No final result yet/ });
    await tile.getByText('3', { exact: true }).waitFor();
    await tile.click();
    await page.getByText('2 debits', { exact: true }).waitFor();
    await page.getByText('¥39.80 in total').waitFor();
    expect(new URL(page.url()).search).toBe('?status=STARTED');

    // One debit, then all. The engine's job does what the request scheduled, and the page follows.
    const [first = '', second = ''] = orders;
    await rowOf(page, first)
      .getByRole('button', { name: /^Ask now about/ })
      .click();
    await page.getByText('The institution is being queried').waitFor();
    await expect.poll(() => on.askDue()).toBe(1);
    await rowOf(page, first).waitFor({ state: 'detached' });
    await button(page, 'Ask now about all matching').click();
    await rowOf(page, second).waitFor();
    await expect.poll(() => on.askDue()).toBe(1);
    await page.getByText('No debit matches').waitFor();

    // The refund is a click away, because the overview counts it too.
    await page.getByRole('link', { name: '1 refund without a final result' }).click();
    on.bank.onQuery = async () => ({ kind: 'success', amountCent: 300, refundedAt: on.service.clock.now() });
    await button(rowOf(page, refunded), /^Ask now about R/).click();
    await expect.poll(() => on.askDueRefunds()).toBe(1);
    await page.getByText('No refund matches').waitFor();
  });

  it('that take too long are refused with a title that says so, and with what to do', async () => {
    const page = await vera('/payments?tab=refunds');
    await on.service.fresh.database.transaction(async (tx) => {
      await tx.query('lock table refunds in access exclusive mode');
      await page.reload();
      await page.getByText('The list is too long').waitFor();
      await page
        .getByText('The search takes longer than 3 seconds: choose a shorter time range', { exact: true })
        .waitFor();
    });
  });

  it('have filters in the address, totals, an export, and views under a name', async () => {
    const paid = await on.paidOrder();
    const failing = await on.paidOrder();
    on.institution.onDebit = async () => declined('final');
    await on.renewNow(failing);
    on.institution.reset();
    const page = await vera('/payments');
    await rowOf(page, paid).waitFor();
    await button(page, 'Failed').click();
    await page.getByText('1 debit', { exact: true }).waitFor();
    await rowOf(page, failing).getByText('because final').waitFor();
    await rowOf(page, paid).waitFor({ state: 'detached' });
    const amount = page.getByLabel('Amount: 20–30');
    await amount.fill('no amount');
    await page.getByText('Enter an amount, or two with a dash').waitFor();
    await amount.fill('10-19.90');
    await expect.poll(() => new URL(page.url()).search).toBe('?status=FAIL&amountFrom=1000&amountTo=1990');
    // On 1280 pixels all filters are in one line.
    const filters = page.getByRole('search');
    const ends = [filters.getByLabel('Institution'), filters.getByLabel('Attempt'), button(filters, 'Clear filters')];
    const middles = await Promise.all(
      ends.map(async (end) => {
        const { y, height } = (await end.first().boundingBox()) ?? { y: Number.NaN, height: 0 };
        return Math.round(y + height / 2);
      }),
    );
    expect(new Set(middles).size).toBe(1);
    const [file] = await Promise.all([page.waitForEvent('download'), button(page, 'Export CSV').click()]);
    const lines = (await readFile(await file.path(), 'utf8')).trim().split('\n');
    expect(lines).toHaveLength(2);
    expect(lines[1]).toContain(failing);
    await page.getByText('1 debit exported').waitFor();

    await button(page, 'Views').click();
    await page.getByRole('menuitem', { name: 'Save this view…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Save this view' });
    await dialog.getByLabel('Name').fill('Declined 10 to 19.90');
    await button(dialog, 'Save view').click();
    await page.getByText('View saved').waitFor();
    // The other tabs keep the filters that they have too.
    await page.getByRole('tab', { name: 'Refunds' }).click();
    await expect.poll(() => new URL(page.url()).searchParams.get('amountTo')).toBe('1990');
    await button(page.getByRole('search'), 'Clear filters').click();

    // The view follows the operator to another browser.
    const elsewhere = await at.person('viewer', 'vera', {});
    await elsewhere.goto('/console/payments?tab=failed');
    await elsewhere.getByText('By reason').waitFor();
    await button(elsewhere, 'Views').click();
    await elsewhere.getByRole('menuitem', { name: 'Declined 10 to 19.90' }).click();
    // The row is on the tab of failed payments too.
    await expect.poll(() => new URL(elsewhere.url()).search).toBe('?status=FAIL&amountFrom=1000&amountTo=1990');
    await rowOf(elsewhere, failing).waitFor();
    await button(elsewhere, 'Views').click();
    await button(elsewhere, 'Delete view Declined 10 to 19.90').click();
    await elsewhere.getByText('Save filters that you use often').waitFor();
  });

  it('do not appear empty while the rows of other filters are loaded', async () => {
    const paid = await on.paidOrder();
    const page = await at.person('viewer', 'vera');
    await page.goto('/console/payments?status=STARTED');
    const none = page.getByText('No debit matches');
    await none.waitFor();
    let release = () => {};
    const isReleased = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route(
      (url) => url.pathname.endsWith('/api/payments'),
      async (route) => {
        await isReleased;
        await route.fallback();
      },
    );
    await button(page.getByRole('search'), 'Clear filters').click();
    await none.waitFor({ state: 'detached' });
    expect(await page.getByText('There are no debits yet').count()).toBe(0);
    release();
    await rowOf(page, paid).waitFor();
  });
});

describe('a refund that support requests', () => {
  it('is decided by finance, and support learns the outcome', async () => {
    const orderNo = await on.paidOrder();
    const page = await sam(`/orders/${orderNo}`);
    await button(page, 'Request refund…').click();
    const dialog = page.getByRole('dialog', { name: 'Refund' });
    await dialog.getByLabel('Amount in CNY').fill('0.01');
    await dialog.getByLabel('Note').fill('charged twice');
    await button(dialog, 'Request approval').click();
    await page.getByText('Approval requested for ¥0.01').waitFor();
    expect(on.bank.asked).toEqual([]);

    const finance = await ann('/approvals');
    await rowsOf(finance).filter({ hasText: orderNo }).getByText('charged twice').click();
    const sheet = finance.getByRole('dialog', { name: 'Refund of period 1' });
    await button(sheet, 'Approve').click();
    await sheet.getByText(`Refund R${orderNo}000101`).waitFor();
    expect(on.bank.asked.map(({ amountCent }) => amountCent)).toEqual([1]);

    await sam('/approvals');
    await menu(page).getByRole('link', { name: 'Approvals 1 waiting' }).waitFor();
    const outcome = page.getByRole('region', { name: 'Outcome of your requests' });
    await outcome.getByText(`Refund R${orderNo}000101`).waitFor();
    await button(outcome, 'Dismiss').click();
    await outcome.waitFor({ state: 'detached' });
    await menu(page).getByRole('link', { name: 'Approvals', exact: true }).waitFor();
  });
});

describe('a note', () => {
  it('is written once by a double click', async () => {
    const orderNo = await on.paidOrder();
    const page = await sam(`/orders/${orderNo}`);
    await page.getByLabel('Write a note').fill('called twice today');
    await button(page, 'Add note').dblclick();
    await page.getByRole('listitem').getByText('called twice today').first().waitFor();
    const written = await on.sql('select from order_notes where order_no = $1', [orderNo]);
    expect(written).toHaveLength(1);
  });

  it('notifies the operators that it mentions, until they dismiss it', async () => {
    const orderNo = await on.paidOrder();
    const text = `@ann please look, ${unique('case')}`;
    const page = await sam(`/orders/${orderNo}`);
    await page.getByLabel('Write a note').fill(text);
    await button(page, 'Add note').click();
    await page.getByText('Notified: ann').waitFor();
    const finance = await ann('/orders');
    await finance.reload();
    await menu(finance).getByRole('link', { name: 'Mentions 1 unread' }).click();
    const note = finance.getByRole('listitem').filter({ hasText: text });
    await note.getByRole('link', { name: `Order ${orderNo}` }).waitFor();
    await button(note, 'Dismiss').click();
    await finance.getByText('No unread mentions').waitFor();
    await menu(finance).getByRole('link', { name: 'Mentions', exact: true }).waitFor();
  });
});
