import { readFile } from 'node:fs/promises';
import { parseTime } from '@perennial/wire';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { raiseAlert } from '../../src/alerts/alerts-sql.js';
import { consoleClient } from '../console/support.js';
import { serviceOfFile } from '../orders/stage-of-file.js';
import { demoChannel, sharedRequest } from '../support/demo.js';
import { consoleBrowser, ON_THIS_MACHINE, signIn } from './console.js';
import { browserOfFile } from './support.js';

// A month-end, counts in the menu, and a page whose files are missing.

const browser = browserOfFile();
const { service, channel } = serviceOfFile(ON_THIS_MACHINE, demoChannel);
const at = consoleBrowser(browser, () => service);

const setClock = (time: string) => service.clock.set(parseTime(time) ?? Number.NaN);
const menu = (page: Page) => page.getByRole('navigation', { name: 'Main menu' });

/** Clicks a button that exports, and returns the file's name and rows. Spreadsheets read ="12" as the text 12. */
async function exported(
  page: Page,
): Promise<{ readonly name: string; readonly rows: readonly Record<string, string>[] }> {
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export CSV' }).click(),
  ]);
  const text = (await readFile(await file.path(), 'utf8')).replace('\uFEFF', '').trim();
  const cells = (line: string) => line.split(',').map((cell) => cell.replaceAll(/[="\t]/g, ''));
  const [header = [], ...lines] = text.split('\r\n').map(cells);
  const rows = lines.map((line) => Object.fromEntries(header.map((name, place) => [name, line[place] ?? ''])));
  return { name: file.suggestedFilename(), rows };
}

const sumOf = (rows: readonly Record<string, string>[], column: string): number =>
  rows.reduce((sum, row) => sum + Number(row[column]), 0);

it('finance plays a month-end: differences, report, lines, fees, closing, a refund of the next month', async () => {
  // March: two payments of 19.90, and a refund of 2.50.
  setClock('2026-03-10 10:00:00');
  const create = async () => (await channel.call('orders/create', sharedRequest(channel))).data.orderNo as string;
  const [first, second] = [await create(), await create()];
  setClock('2026-03-20 10:00:00');
  const bookkeeper = await consoleClient(service, 'finance', 'frank');
  const refund = { note: 'late', key: 'march', amountCent: 250 };
  expect((await bookkeeper.post(`/orders/${first}/periods/1/refund`, refund)).status).toBe(200);
  await service.channel('test_idle');
  await service.fresh.database.query(
    `update channels set created_at = timestamptz '2026-02-05 00:00:00+08',
       name = case app_id when 'test_idle' then 'Idle partner' else name end`,
  );
  setClock('2026-04-15 12:00:00');

  // A difference from the institution's statement.
  const page = await at.person('finance', 'fay');
  await page.goto('/console/reconciliation');
  await page.getByRole('button', { name: 'Reconcile a day' }).click();
  const comparing = page.getByRole('dialog', { name: 'Reconcile a day' });
  await comparing.getByRole('combobox', { name: 'Payment channel' }).click();
  await page.getByRole('option', { name: 'Mock Pay' }).click();
  const lines = [
    'kind,number,amountCent,status,bookedAt,institutionRef',
    `DEBIT,${first}000101,1990,SUCCESS,2026-03-10 10:00:00,ref-1`,
    `DEBIT,${second}000101,1890,SUCCESS,2026-03-10 10:00:00,ref-2`,
  ];
  await comparing.getByLabel('File').setInputFiles({
    name: 'mockpay-2026-03-10.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from(`${lines.join('\n')}\n`),
  });
  await comparing.getByText('10 Mar 2026').waitFor();
  await comparing.getByRole('button', { name: 'Reconcile' }).click();
  await page.getByText('2 lines compared, 1 differ').waitFor();
  const differences = await exported(page);
  expect(differences.rows[0]).toMatchObject({ kind: 'AMOUNT', hereAmount: '19.90', thereAmount: '18.90' });
  await page.getByRole('button', { name: 'Amount differs' }).click();
  const difference = page.getByRole('dialog');
  await difference.getByRole('link', { name: second, exact: true }).waitFor();
  await difference.getByText('¥18.90').waitFor();
  await difference.getByLabel('Closing note').fill('the institution booked the missing 1.00 a day later');
  await difference.getByRole('button', { name: 'Close difference' }).click();
  await page.getByText('Difference closed').waitFor();
  await difference.getByText('Closed by fay').waitFor();
  await page.goto('/console/reconciliation');
  await page.getByText('No open differences').waitFor();

  // An admin renames the channel and sets its fees.
  const admin = await at.person('admin', 'ada');
  await admin.goto('/console/channels/test_demo');
  await admin.getByLabel('Name').fill('Renamed partner');
  await admin.getByRole('button', { name: 'Save' }).first().click();
  await admin.getByRole('heading', { name: 'Renamed partner' }).waitFor();
  await admin.getByRole('tab', { name: 'Fees' }).click();
  await admin.getByLabel('Valid from').fill('2026-03');
  await admin.getByLabel('Fee, percent of each debit').fill('0.6');
  await admin.getByLabel('Fixed fee per debit').fill('0.1');
  await admin.getByLabel('Share of the channel, percent').fill('70');
  await admin.getByRole('button', { name: 'Save' }).click();
  await admin.getByRole('cell', { name: '70.00%' }).waitFor();

  // The month's report: 24 and 20 cents of fee; the share is 70 % of 3980 - 250 - 44 cents.
  await page.goto('/console/settlement?month=2026-03');
  const row = page.getByRole('row', { name: /Renamed partner/ });
  const amounts = async () => (await row.getByRole('cell').allInnerTexts()).join(' ').match(/−?¥[\d.]+/g);
  await row.waitFor();
  expect(await amounts()).toEqual(['¥39.80', '−¥2.50', '¥37.30', '¥0.44', '¥25.80', '¥25.80']);
  await row.getByText('to the channel').waitFor();
  await page.getByRole('columnheader', { name: 'Collected' }).waitFor();
  await page.getByRole('columnheader', { name: 'Billed' }).waitFor();
  expect(await page.getByText('Idle partner').count()).toBe(0);
  await page.getByText('1 channel without activity').click();
  await page.getByText('Idle partner').waitFor();
  const month = await exported(page);
  expect(month.name).toBe('settlement-2026-03-as-of-2026-04-15.csv');
  expect([...new Set(month.rows.map(({ appId }) => appId))]).toEqual(['test_demo']);
  expect(
    ['collected', 'refunded', 'fee', 'share', 'payable'].map((name) => sumOf(month.rows, name).toFixed(2)),
  ).toEqual(['39.80', '2.50', '0.44', '25.80', '25.80']);

  // The lines, with a filter and as files.
  await row.getByRole('link', { name: 'Details' }).click();
  await page.getByRole('link', { name: `${second}0001`, exact: true }).waitFor();
  const all = await exported(page);
  expect(all.name).toBe('settlement-test_demo-2026-03-as-of-2026-04-15.csv');
  expect(Object.keys(all.rows[0] ?? {})).toEqual([
    ...['kind', 'time', 'paymentOrderNo', 'refundNo', 'externalOrderNo', 'productCode', 'settlementMode', 'cycleNo'],
    ...['amount', 'currency'],
  ]);
  const ofKind = (kind: string) => all.rows.filter((line) => line['kind'] === kind);
  expect(['COLLECTED', 'REFUNDED', 'BILLED'].map((kind) => sumOf(ofKind(kind), 'amount').toFixed(2))).toEqual([
    ...['39.80', '2.50', '0.00'],
  ]);
  expect(sumOf(ofKind('COLLECTED'), 'amount').toFixed(2)).toBe('39.80');
  await page.getByRole('button', { name: 'Refunded' }).click();
  await page.getByRole('link', { name: `${second}0001`, exact: true }).waitFor({ state: 'detached' });
  const refunds = await exported(page);
  expect(refunds.rows.map(({ refundNo }) => refundNo)).toEqual([`R${first}000101`]);

  // February is still open, so it is closed first.
  await page.getByRole('link', { name: 'Settlement, Mar 2026' }).click();
  await page.getByText('A refund counts in the month in which it is made.').waitFor();
  await page.getByText('Months are closed in order. The next is Feb 2026.').waitFor();
  expect(await page.getByRole('button', { name: 'Close month' }).count()).toBe(0);
  await page.getByRole('button', { name: 'Show Feb 2026' }).click();
  await page.getByRole('button', { name: 'Close month' }).click();
  const february = page.getByRole('dialog', { name: 'Close Feb 2026?' });
  await february.getByText('Later refunds count in the month in which they are made.').waitFor();
  await february.getByLabel('Type 2026-02 to confirm').fill('2026-02');
  await february.getByRole('button', { name: 'Close month' }).click();
  await page.getByText('Feb 2026 closed').waitFor();
  await page.getByRole('button', { name: 'Show Mar 2026' }).click();
  await page.getByRole('button', { name: 'Close month' }).click();
  const march = page.getByRole('dialog', { name: 'Close Mar 2026?' });
  const close = march.getByRole('button', { name: 'Close month' });
  await march.getByLabel('Note (optional)').fill('ticket 4711');
  const typed = march.getByLabel('Type 2026-03 to confirm');
  await typed.fill('2026-04');
  expect(await close.isDisabled()).toBe(true);
  await typed.fill('2026-03');
  await close.click();
  await page.getByText('Mar 2026 closed').waitFor();
  await page.getByText('Closed by fay').waitFor();
  await page.getByRole('button', { name: 'Close month' }).waitFor({ state: 'detached' });

  // A refund of a payment of March counts in April, and is found by the institution's reference.
  await page.goto(`/console/orders/${second}`);
  await page.getByRole('button', { name: 'Refund…', exact: true }).click();
  const refunding = page.getByRole('dialog', { name: 'Refund' });
  await refunding.getByLabel('Note').fill('after the closing');
  await refunding.getByLabel('Amount in CNY').fill('5.00');
  await refunding.getByRole('button', { name: 'Refund ¥5.00' }).click();
  const reference = `sandbox-R${second}000101`;
  await page.getByRole('list', { name: 'History' }).getByText(reference).waitFor();
  await page.keyboard.press('/');
  await page.getByPlaceholder(/^Order, payment, refund/).fill(reference);
  await page.getByText('reference at the institution').waitFor();
  await page.keyboard.press('Escape');
  await page.goto('/console/settlement?month=2026-03');
  await page.getByText('Closed by fay').waitFor();
  expect(await amounts()).toEqual(['¥39.80', '−¥2.50', '¥37.30', '¥0.44', '¥25.80', '¥25.80']);
  await page.goto('/console/settlement?month=2026-04');
  await row.waitFor();
  expect((await amounts())?.slice(0, 2)).toEqual(['−¥5.00', '−¥5.00']);

  await menu(page).getByRole('link', { name: 'Audit log' }).click();
  const entry = page.getByRole('row').filter({ hasText: 'Closed a month' }).filter({ hasText: '2026-03' });
  await entry.getByText('fay').first().waitFor();
  await entry.getByText('ticket 4711').waitFor();
});

it('the menu shows the counts of open items on other pages', async () => {
  setClock('2026-04-15 12:00:00');
  const { database } = service.fresh;
  await database.query('update alerts set resolved_at = now()');
  await raiseAlert(database, 'billing-failed', '1001', 'twice');
  await database.query(
    `insert into order_counts (channel_id, active, waiting_for_retry, due_today)
     select channel_id, 90, 12, 30 from channels where app_id = 'test_demo'`,
  );
  await database.query(
    `insert into hourly_figures (hour, channel_id, renewals_done)
     select '2026-04-15 09:00+08', channel_id, 41 from channels where app_id = 'test_demo'`,
  );
  const page = await at.person('finance', 'fay');
  await page.goto('/console/settlement');
  await menu(page).getByRole('link', { name: 'Alerts 1 open' }).waitFor();
  await menu(page).getByRole('link', { name: 'Payments 12 to be retried' }).waitFor();
  await menu(page).getByRole('link', { name: 'Approvals', exact: true }).waitFor();
  await menu(page).getByRole('link', { name: 'Overview' }).click();
  await page.getByRole('link', { name: /^Renewed today\s*41\s*30 still due today$/ }).waitFor();
});

describe('a page whose files are missing', () => {
  it('is reloaded only once', async () => {
    const { page } = await at.open();
    await signIn(page, service, 'viewer', 'vera');
    await page.route(/\/assets\/search-box-[^/]*\.js$/, (route) => route.fulfill({ status: 404 }));
    let loads = 0;
    page.on('load', () => {
      loads += 1;
    });
    await page.goto('/console/alerts');
    const search = page.getByRole('button', { name: /^Order, payment, refund/ });
    await Promise.all([page.waitForEvent('load'), search.click()]);
    expect(loads).toBe(2);
    await search.click();
    await page.getByText('The search could not be loaded. Reload the page.').waitFor();
    await page.getByRole('heading', { name: 'Alerts' }).waitFor();
    await page.waitForLoadState('networkidle');
    expect(loads).toBe(2);
    await page.context().close();
  });
});
