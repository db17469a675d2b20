import type { Locator, Page } from 'playwright-core';
import { beforeEach, describe, expect, it } from 'vitest';
import { operatorStage } from '../console/operators.js';
import { ofFile } from '../orders/stage-of-file.js';
import { unique } from '../support/demo.js';
import { consoleBrowser, ON_THIS_MACHINE } from './console.js';
import { browserOfFile } from './support.js';

/** Refunds whose answer is late or lost, and refunds sent from two tabs. */

const browser = browserOfFile();
const on = ofFile(() => operatorStage({ ...ON_THIS_MACHINE, refundApprovalCent: 1_000 }));
const at = consoleBrowser(browser, () => on.service);
beforeEach(() => on.bank.reset());

const button = (within: Page | Locator, name: string | RegExp) =>
  within.getByRole('button', { name, ...(typeof name === 'string' ? { exact: true } : {}) });
const rowsOf = (page: Page) => page.getByRole('table').locator('tbody').getByRole('row');
/** Opens the dialog that refunds a part of the first period, and fills it in. */
async function refundDialog(tab: Page): Promise<Locator> {
  await button(tab, 'Refund…').click();
  const dialog = tab.getByRole('dialog', { name: 'Refund' });
  await dialog.getByLabel('Amount in CNY').fill('3.00');
  await dialog.getByLabel('Note').fill('late delivery');
  await dialog.getByText('¥3.00 will be refunded to the user').waitFor();
  return dialog;
}
const bookedCents = () => [...on.bank.booked.values()].map(({ amountCent }) => amountCent);

describe('a payment that was searched', () => {
  it('is the one that the dialog offers to refund, also if a later period was paid', async () => {
    const orderNo = await on.paidOrder();
    await on.renewNow(orderNo);
    const page = await at.person('finance', 'ann');
    await page.goto('/console');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('textbox', { name: /Order, payment, refund/ }).fill(`${orderNo}0001`);
    await page.getByRole('dialog').getByText(`${orderNo}0001`).first().waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: `Order ${orderNo}` }).waitFor();
    await button(page, 'Refund…').click();
    await page.getByRole('dialog', { name: `Refund period 1 of order ${orderNo}` }).waitFor();
    await page.goto(`/console/orders/${orderNo}`);
    await button(page, 'Refund…').click();
    await page.getByRole('dialog', { name: `Refund period 2 of order ${orderNo}` }).waitFor();
  });
});

describe('a bulk refund', () => {
  it('is not done while the institution is down: the page follows each refund to its end', async () => {
    const orders = [await on.paidOrder(), await on.paidOrder()];
    const { body: prepared } = await on.ann.post('/bulk', {
      ...{ kind: 'REFUND', items: orders.map((orderNo) => `${orderNo}-1`), reason: 'outage', key: unique('key') },
    });
    const { approvalId } = (await on.ann.post(`/bulk/${prepared.runId}/start`, { confirmation: 'REFUND 2' })).body;
    // The approver sees the number, the sum and the effects before the decision.
    const approver = await at.person('finance', 'bob');
    await approver.goto(`/console/approvals?open=${approvalId}`);
    await approver.getByText('2 refunds, ¥39.80 in total').waitFor();
    await approver.getByText(/^4 benefits will be revoked: 2\s×\sVIP pass, 2\s×\sCoupon$/).waitFor();
    await on.bob.post(`/approvals/${approvalId}/approve`);
    // The audit log shows the sum as an amount, not in cents.
    await approver.goto('/console/audit');
    await approver
      .getByText(/Amount: ¥39\.80/)
      .first()
      .waitFor();
    expect(await approver.getByText(/amountCent/).count()).toBe(0);
    on.bank.onRefund = async () => ({ kind: 'unknown' });
    await on.workOff();
    const page = await at.person('finance', 'ann');
    await page.goto(`/console/bulk/${prepared.runId}`);
    await page.getByText('2 items were sent and have no final result yet.').waitFor();
    await page.getByText('2 pending', { exact: true }).waitFor();
    await page.getByText('0 succeeded', { exact: true }).waitFor();
    expect(await button(page, 'Cancel the run').count()).toBe(0);
    // The rows come with an answer of their own, after the run's.
    await expect.poll(() => rowsOf(page).getByText('Pending').count()).toBe(2);
    // The institution answers again, and refuses one of the two refunds.
    on.bank.onQuery = async ({ refundNo }) =>
      refundNo.includes(orders[0] ?? '')
        ? { kind: 'refused', reason: 'account closed' }
        : { kind: 'success', amountCent: 1990, refundedAt: on.service.clock.now() };
    await on.askAll();
    await on.follow();
    // Nobody reloads the page.
    await page.getByText('1 item was refused or failed. See the list for the reason.').waitFor();
    await page.getByText('1 succeeded', { exact: true }).waitFor();
    await rowsOf(page)
      .filter({ hasText: `${orders[0]}-1` })
      .getByText('account closed')
      .waitFor();
    expect(await page.getByText(/^\d+ pending$/).count()).toBe(0);
    const alert = { kind: 'refund-refused', subject: `R${orders[0]}000101` };
    expect((await on.support.post('/alerts/acknowledge', alert)).status).toBe(200);
  });
});

describe('a refund', () => {
  it('of a part says which benefits it revokes, and can keep them', async () => {
    const orderNo = await on.paidOrder();
    const page = await at.person('finance', 'ann');
    await page.goto(`/console/orders/${orderNo}`);
    await button(page, 'Refund…').click();
    const dialog = page.getByRole('dialog', { name: 'Refund' });
    await dialog.getByText('2 benefits will be revoked: VIP pass, Coupon').waitFor();
    expect(await dialog.getByLabel('Keep the benefits').count()).toBe(0);
    await dialog.getByLabel('Amount in CNY').fill('4.90');
    await dialog.getByLabel('Note').fill('goodwill');
    await dialog.getByText('1 benefit will be revoked: Coupon').waitFor();
    await dialog.getByLabel('Keep the benefits').check();
    await dialog.getByText('No benefit will be revoked').waitFor();
    await button(dialog, 'Refund ¥4.90').click();
    await page.getByText('¥4.90 refunded').waitFor();
    const benefits = await on.sql('select status from benefits where order_no = $1', [orderNo]);
    expect(benefits).toEqual([{ status: 'ISSUED' }, { status: 'ISSUED' }]);
  });

  it('that was made outside is recorded, and unsubscribes in the same step', async () => {
    const orderNo = await on.paidOrder();
    const page = await at.person('admin', 'eve');
    await page.goto(`/console/orders/${orderNo}`);
    const dialog = await refundDialog(page);
    await dialog.getByLabel('Already refunded outside the service').check();
    await dialog.getByLabel('Unsubscribe the order too').check();
    await dialog.getByText('¥3.00 is recorded as refunded outside the service.').waitFor();
    await dialog.getByText('11 periods will be voided').waitFor();
    await button(dialog, 'Record ¥3.00').click();
    await page.getByText('Period 1 refunded outside the service').waitFor();
    await page.getByText('¥3.00 refunded outside the service', { exact: true }).waitFor();
    await page.getByText('Unsubscribed', { exact: true }).first().waitFor();
    expect(bookedCents()).toEqual([]);
    await page.goto('/console/reconciliation');
    await rowsOf(page)
      .filter({ hasText: `R${orderNo}000101` })
      .getByText('Refunded outside the service')
      .waitFor();
  });

  it('that another tab has sent and had answered is said to be that, and goes out once', async () => {
    const orderNo = await on.paidOrder();
    const page = await at.person('finance', 'ann');
    const other = await page.context().newPage();
    for (const tab of [page, other]) await tab.goto(`/console/orders/${orderNo}`);
    const [first, second] = [await refundDialog(page), await refundDialog(other)];
    await button(second, 'Refund ¥3.00').click();
    await second.waitFor({ state: 'detached' });
    const said = first.getByRole('status').filter({ hasText: '¥3.00' });
    await said.getByText('You have sent a refund of ¥3.00 in another tab.').waitFor();
    // The text disappears when the other tab has its answer, until this tab has read the order.
    await expect.poll(() => said.allInnerTexts()).toHaveLength(1);
    await button(first, 'Refund ¥3.00').click();
    await page.getByText('¥3.00 refunded').waitFor();
    expect(bookedCents()).toEqual([300]);

    // The first tab does not mention a refund that was refused in the other tab. That tab first learns that the former
    // request is answered. Otherwise it would send it again.
    await expect.poll(() => other.evaluate('Object.keys(localStorage).join()')).not.toContain('console-refund');
    const [again, refused] = [await refundDialog(page), await refundDialog(other)];
    await other.route('**/refund', async (route) => {
      await again.getByText('You have sent').waitFor();
      await route.fulfill({ status: 409, json: { title: 'no', detail: 'not now' } });
    });
    await button(refused, 'Refund ¥3.00').click();
    await refused.getByText('not now').waitFor();
    await again.getByText('You have sent').waitFor({ state: 'detached' });
    expect(await again.getByRole('status').filter({ hasText: '¥3.00' }).count()).toBe(0);
    await other.close();
  });

  it('that another tab has sent goes out once, also if this tab is told only after the answer', async () => {
    const orderNo = await on.paidOrder();
    const page = await at.person('finance', 'ann');
    const other = await page.context().newPage();
    // Holds the browser's events back, as they are while a tab is busy.
    await page.addInitScript(`
      window.held = [];
      const hold = (event) => { event.stopImmediatePropagation(); held.push(event); };
      window.addEventListener('storage', hold, true);
      window.tellThisTab = () => {
        window.removeEventListener('storage', hold, true);
        for (const { key, newValue } of held) window.dispatchEvent(new StorageEvent('storage', { key, newValue }));
        return held.length;
      };`);
    for (const tab of [page, other]) await tab.goto(`/console/orders/${orderNo}`);
    const [first, second] = [await refundDialog(page), await refundDialog(other)];
    await button(second, 'Refund ¥3.00').click();
    await second.waitFor({ state: 'detached' });
    await expect.poll(() => page.evaluate('held.length')).toBeGreaterThanOrEqual(2);
    await page.evaluate('tellThisTab()');
    const said = first.getByRole('status').filter({ hasText: '¥3.00' });
    await said.getByText('You have sent a refund of ¥3.00 in another tab.').waitFor();
    await button(first, 'Refund ¥3.00').click();
    await page.getByText('¥3.00 refunded').waitFor();
    expect(bookedCents()).toEqual([300]);
    await other.close();
  });

  it('that the institution has not answered yet shows at its period and in the sums', async () => {
    const orderNo = await on.paidOrder();
    on.bank.onRefund = async () => ({ kind: 'unknown' });
    await on.refund({ orderNo, cycleNo: 1, amountCent: 300 });
    const page = await at.person('viewer', 'vera');
    await page.goto(`/console/orders/${orderNo}`);
    const periods = page.getByRole('table', { name: /^Periods/ });
    await periods.getByText('¥3.00 is being refunded').waitFor();
    const refunded = page.locator('dl').filter({ hasText: 'Refunded' }).first();
    await refunded.getByText('¥3.00 in progress').waitFor();

    // The overview counts this refund and a debit without a result, and links to the list of debits, which links to the refunds.
    const waiting = await on.paidOrder();
    const usual = on.institution.onDebit;
    on.institution.onDebit = async () => ({ kind: 'unknown' });
    await on.renewNow(waiting);
    on.institution.onDebit = usual;
    await page.goto('/console');
    const tile = page.getByRole('link', { name: /^No final result yet/ });
    await tile.getByText('2', { exact: true }).waitFor();
    await tile.click();
    await rowsOf(page).filter({ hasText: waiting }).waitFor();
    await page.getByText('1 debit', { exact: true }).waitFor();
    await page.getByRole('link', { name: '1 refund without a final result' }).click();
    await rowsOf(page).filter({ hasText: orderNo }).waitFor();
    await page.getByText('1 refund', { exact: true }).waitFor();
    await on.askAll();
  });

  it('that did not arrive is offered again in another tab, and goes out once', async () => {
    const orderNo = await on.paidOrder();
    const page = await at.person('finance', 'ann');
    await page.goto(`/console/orders/${orderNo}`);
    await page.route('**/refund', (route) => route.abort());
    const dialog = await refundDialog(page);
    await button(dialog, 'Refund ¥3.00').click();
    await dialog.getByText('The service does not answer').waitFor();

    const other = await page.context().newPage();
    await other.goto(`/console/orders/${orderNo}`);
    const again = other.getByRole('dialog', { name: 'Refund' });
    await button(other, 'Refund…').click();
    await again.getByText('A refund of ¥3.00 was sent before and has no answer yet.').waitFor();
    expect(await again.getByLabel('Amount in CNY').inputValue()).toBe('3.00');
    await again.getByLabel('Note').fill('late delivery');
    await button(again, 'Refund ¥3.00').click();
    await other.getByText('¥3.00 refunded').waitFor();
    await other.close();
    // The first tab's requests reach the service again. The tab repeats its refund request, which never arrived. The
    // other tab has made the same refund meanwhile, so there is no second refund.
    await page.unroute('**/refund');
    await button(dialog, 'Refund ¥3.00').click();
    await page.getByText('¥3.00 refunded').waitFor();
    expect(bookedCents()).toEqual([300]);
  });

  it('that did not arrive is offered again with its options; one that did is not sent again with others', async () => {
    const orderNo = await on.paidOrder();
    const page = await at.person('admin', 'eve');
    await page.goto(`/console/orders/${orderNo}`);
    await page.route('**/refund', (route) => route.abort());
    const dialog = await refundDialog(page);
    await dialog.getByLabel('Unsubscribe the order too').check();
    await dialog.getByLabel('Already refunded outside the service').check();
    await dialog.getByText('Unclaimed benefits can still be claimed').waitFor();
    await button(dialog, 'Record ¥3.00').click();
    await dialog.getByText('The service does not answer').waitFor();
    await page.reload();
    await button(page, 'Refund…').click();
    await dialog.getByText('A refund of ¥3.00 was sent before and has no answer yet.').waitFor();
    for (const option of ['Unsubscribe the order too', 'Already refunded outside the service'])
      expect(await dialog.getByLabel(option).isChecked()).toBe(true);
    await dialog.getByLabel('Already refunded outside the service').uncheck();
    await dialog.getByLabel('Unsubscribe the order too').uncheck();
    await dialog.getByLabel('Note').fill('late delivery');

    // The request arrives, but its answer is lost.
    await page.unroute('**/refund');
    await page.route('**/refund', async (route) => {
      await route.fetch();
      await route.abort();
    });
    await button(dialog, 'Refund ¥3.00').click();
    await dialog.getByText('Your earlier refund of ¥3.00 was received').waitFor();
    await page.unroute('**/refund');
    await dialog.getByLabel('Unsubscribe the order too').check();
    for (let repeated = 0; repeated < 2; repeated++) {
      const answered = page.waitForResponse(/\/refund$/);
      await button(dialog, 'Refund ¥3.00').click();
      expect((await answered).status()).toBe(409);
      await dialog.getByText('was already used for a refund with other options').waitFor();
    }
    await button(dialog, 'Cancel').click();
    await dialog.waitFor({ state: 'detached' });
    expect(bookedCents()).toEqual([300]);
    expect(await page.evaluate('Object.keys(localStorage).join()')).not.toContain('console-refund');
  });

  it('that waits is withdrawn by who asked; of one that could not be made both are told', async () => {
    const ask = async (orderNo: string) => {
      const { body } = await on.ann.post(`/orders/${orderNo}/periods/1/refund`, { note: 'no service', key: 'k' });
      return { orderNo, at: `/console/approvals?open=${body.approvalId}` };
    };
    const asking = await at.person('finance', 'ann');
    await asking.goto((await ask(await on.paidOrder())).at);
    const own = asking.getByRole('dialog', { name: 'Refund of period 1' });
    await button(own, 'Withdraw').click();
    await asking.getByText('Request withdrawn').waitFor();
    await own.getByText('Withdrawn', { exact: true }).waitFor();

    const waiting = await ask(await on.paidOrder());
    await on.refund({ orderNo: waiting.orderNo, cycleNo: 1 });
    const deciding = await at.person('finance', 'bob');
    await deciding.goto(waiting.at);
    const sheet = deciding.getByRole('dialog', { name: 'Refund of period 1' });
    await button(sheet, 'Approve').click();
    await sheet.getByText('Approved, failed').waitFor();
    const why = /^Approved, but failed: Not refunded: period 1 of order \d+ was already refunded in full$/;
    await sheet.getByText(why).waitFor();

    await asking.goto('/console/approvals');
    const told = asking.getByRole('region', { name: 'Outcome of your requests' });
    await told.getByText('Approved, failed').waitFor();
    await button(told, /^Refund of period 1/).click();
    await own.getByText(why).waitFor();
    await asking.keyboard.press('Escape');
    await button(told, 'Dismiss').click();
    await told.waitFor({ state: 'detached' });
  });
});
