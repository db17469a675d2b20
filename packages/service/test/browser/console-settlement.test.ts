import { readFile } from 'node:fs/promises';
import { parseTime } from '@perennial/wire';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { raiseAlert } from '../../src/alerts/alerts-sql.js';
import { ofFile } from '../orders/stage-of-file.js';
import { putOrder, putPayment } from '../settlement/support.js';
import { testService } from '../support/service.js';
import { consoleBrowser, ON_THIS_MACHINE, signIn } from './console.js';
import { browserOfFile } from './support.js';

// Closing a month, counts in the menu, and a page whose files are missing.

const browser = browserOfFile();
const service = ofFile(() => testService(ON_THIS_MACHINE));
const at = consoleBrowser(browser, () => service);
beforeAll(async () => {
  const { database } = service.fresh;
  service.clock.set(parseTime('2026-04-15 12:00:00') ?? Number.NaN);
  await service.channel('test_one');
  const [channel] = await database.query<{ id: string }>('select channel_id::text as id from channels');
  const channelId = channel?.id ?? '';
  await database.query(`update channels set created_at = timestamptz '2026-02-05 00:00:00+08'`);
  await putOrder(database, { orderNo: 1001, channelId });
  const paidAt = parseTime('2026-03-10 10:00:00') ?? Number.NaN;
  const refunds = [{ amountCent: 250, at: paidAt + 1000 }];
  await putPayment(database, {
    ...{ orderNo: 1001, cycleNo: 1, channelId, amountCent: 1000, status: 'SUCCESS', paidAt, refunds },
  });
  await service.channel('test_idle');
  await database.query(`update channels set name = 'Idle partner' where app_id = 'test_idle'`);
  await raiseAlert(database, 'billing-failed', '1001', 'twice');
  await database.query(
    `insert into order_counts (channel_id, active, waiting_for_retry, due_today) values ($1, 90, 12, 30)`,
    [channelId],
  );
  await database.query(
    `insert into hourly_figures (hour, channel_id, renewals_done) values ('2026-04-15 09:00+08', $1, 41)`,
    [channelId],
  );
});

const menu = (page: Page) => page.getByRole('navigation', { name: 'Main menu' });

describe('settlement', () => {
  it('hides channels without activity, and lists the payments and refunds of a channel', async () => {
    const page = await at.person('finance', 'fay');
    await page.goto('/console/settlement?month=2026-03');
    await page.getByText('1 channel without activity').waitFor();
    expect(await page.getByText('Idle partner').count()).toBe(0);
    await page.getByText('1 channel without activity').click();
    await page.getByText('Idle partner').waitFor();
    await page.getByRole('link', { name: 'Details' }).click();
    await page.getByRole('link', { name: 'R1001000101' }).waitFor();
    await page.getByRole('link', { name: '10010001', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Refunded' }).click();
    await page.getByRole('link', { name: '10010001', exact: true }).waitFor({ state: 'detached' });
    const saving = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export CSV' }).click();
    const saved = await saving;
    expect(saved.suggestedFilename()).toBe('settlement-test_one-2026-03-as-of-2026-04-15.csv');
    expect((await readFile(await saved.path(), 'utf8')).trim().split('\r\n')).toHaveLength(2);
  });

  it('shows the fees that an admin sets for a channel, who also renames it', async () => {
    const page = await at.person('admin', 'ada');
    await page.goto('/console/channels/test_one');
    await page.getByLabel('Name').fill('Renamed partner');
    await page.getByRole('button', { name: 'Save' }).first().click();
    await page.getByRole('heading', { name: 'Renamed partner' }).waitFor();
    await page.getByRole('tab', { name: 'Fees' }).click();
    await page.getByLabel('Valid from').fill('2026-03');
    await page.getByLabel('Fee, percent of each debit').fill('0.6');
    await page.getByLabel('Fixed fee per debit').fill('0.1');
    await page.getByLabel('Share of the channel, percent').fill('70');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('cell', { name: '70.00 %' }).waitFor();
    await page.goto('/console/settlement?month=2026-03');
    const row = page.getByRole('row', { name: /Renamed partner/ });
    // 6 and 10 cents of fee; 70 % of 1000 - 250 - 16 cents.
    await row.getByRole('cell', { name: '¥0.16' }).waitFor();
    await row.getByRole('cell', { name: '¥5.14' }).waitFor();
  });

  it('closes a past month permanently after a typed confirmation; the next one stays open', async () => {
    const page = await at.person('finance', 'fay');
    await page.goto('/console/settlement?month=2026-03');
    await page.getByText('A refund counts in the month in which it is made.').waitFor();
    // February is still open, so it must be closed first.
    await page.getByText('Months are closed in order. The next is Feb 2026.').waitFor();
    expect(await page.getByRole('button', { name: 'Close month' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Show Feb 2026' }).click();
    await page.getByRole('button', { name: 'Close month' }).click();
    const first = page.getByRole('dialog', { name: 'Close Feb 2026?' });
    await first.getByText('Later refunds count in the month in which they are made.').waitFor();
    await first.getByLabel('Type 2026-02 to confirm').fill('2026-02');
    await first.getByRole('button', { name: 'Close month' }).click();
    await page.getByText('Feb 2026 closed').waitFor();
    await page.getByRole('button', { name: 'Show Mar 2026' }).click();
    await page.getByRole('button', { name: 'Close month' }).click();
    const dialog = page.getByRole('dialog', { name: 'Close Mar 2026?' });
    const close = dialog.getByRole('button', { name: 'Close month' });
    await dialog.getByLabel('Note (optional)').fill('ticket 4711');
    const typed = dialog.getByLabel('Type 2026-03 to confirm');
    await typed.fill('2026-04');
    expect(await close.isDisabled()).toBe(true);
    await typed.fill('2026-03');
    await close.click();
    await page.getByText('Mar 2026 closed').waitFor();
    await page.getByText('Closed by fay').waitFor();
    await page.getByRole('button', { name: 'Close month' }).waitFor({ state: 'detached' });
    const entries = await service.fresh.database.query(
      `select actor, audit_detail(audit_log) ->> 'note' as note from audit_log where action = 'settlement.close' and subject = '2026-03'`,
    );
    expect(entries).toEqual([{ actor: 'fay', note: 'ticket 4711' }]);
    const stored = await service.fresh.database.query('select distinct month from closed_months order by month');
    expect(stored).toEqual([{ month: '2026-02' }, { month: '2026-03' }]);

    // The menu shows the counts of open items on other pages.
    await menu(page).getByRole('link', { name: 'Alerts 1 open' }).waitFor();
    await menu(page).getByRole('link', { name: 'Payments 12 to be retried' }).waitFor();
    await menu(page).getByRole('link', { name: 'Approvals', exact: true }).waitFor();
    await menu(page).getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('link', { name: /^Renewed today\s*41\s*30 still due today$/ }).waitFor();
  });
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
    await page.getByText('Something went wrong').waitFor();
    await page.waitForLoadState('networkidle');
    expect(loads).toBe(2);
    await page.context().close();
  });
});
