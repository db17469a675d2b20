import { expect, it, onTestFinished } from 'vitest';
import { raiseAlert } from '../../src/alerts/alerts-sql.js';
import { operatorStage } from '../console/operators.js';
import { createPersonWithPassword, PASSWORD } from '../console/support.js';
import { ofFile } from '../orders/stage-of-file.js';
import { mobileOf, unique } from '../support/demo.js';
import { createSendingNode, registerReceiver } from '../webhooks/sending.js';
import { consoleBrowser, ON_THIS_MACHINE } from './console.js';
import { browserOfFile } from './support.js';

// A support call: a user's debit failed, and the user wants a partial refund.

const browser = browserOfFile();
const on = ofFile(() => operatorStage({ ...ON_THIS_MACHINE, localCallbacks: true }));
const receiver = ofFile(() => registerReceiver(on.service, on.channel));

it('an admin finds a user by mobile, sees why a debit failed, retries it, refunds a part and writes a note', async () => {
  const channelUserId = unique('caller');
  const orderNo = await on.paidOrder({ channelUserId });
  const words = '余额不足 (insufficient funds)';
  const why = `Period 2 failed, attempt 1: Insufficient funds · ${words}`;
  on.institution.onDebit = async () => ({ kind: 'declined', decline: 'retryable', reason: words });
  await on.renewNow(orderNo);
  on.institution.reset();
  await createPersonWithPassword(on.service, 'mei', 'admin');
  const page = await consoleBrowser(browser, () => on.service).person('admin', 'mei');

  // Only the caller's mobile number is known.
  await page.goto('/console');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('textbox', { name: /Order, payment, refund/ }).fill(mobileOf(channelUserId));
  await page.getByRole('dialog').getByText(channelUserId).first().waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: channelUserId, level: 1 }).waitFor();
  await page.getByRole('link', { name: orderNo }).first().click();
  await page.getByRole('heading', { name: `Order ${orderNo}` }).waitFor();

  // The institution's reason is visible without scrolling: at the top and at the period.
  await page.getByText(why).waitFor();
  const atPeriod = page.getByRole('table', { name: /^Periods/ }).getByText(words);
  const { height } = page.viewportSize() ?? { height: 0 };
  for (const place of [page.getByText(why), atPeriod]) {
    const box = await place.boundingBox();
    expect((box?.y ?? height) + (box?.height ?? 0)).toBeLessThan(height);
  }

  // The timeline shows the reason too, and the next scheduled retry.
  const past = page.getByRole('list', { name: 'History' });
  const failure = past.getByRole('listitem').filter({ hasText: 'Debit of period 2 failed, attempt 1' });
  await failure.getByText(words).waitFor();
  const next = page.getByRole('list', { name: 'Next' });
  await next.getByText(/first of four/).waitFor();

  // Retries the debit now instead of on schedule.
  await page.getByRole('button', { name: 'Debit again now…' }).click();
  const retry = page.getByRole('dialog', { name: 'Retry the debit of period 2 now?' });
  await retry.getByText(/¥19\.90 becomes due now and is debited/).waitFor();
  await retry.getByRole('button', { name: 'Debit now' }).click();
  await page.getByText('Period 2 is due now and will be debited next', { exact: true }).waitFor();
  await retry.waitFor({ state: 'hidden' });
  await on.renew();
  expect(on.institution.debits).toHaveLength(1);
  await page.reload();
  await past.getByText('Period 2 paid, attempt 2').waitFor();
  await past.getByText('Retried the debit of period 2').waitFor();
  expect(await page.getByText(why).count()).toBe(0);
  expect(await page.getByRole('button', { name: 'Debit again now…' }).count()).toBe(0);

  // Refunds a part. The operator must confirm their identity, because the last confirmation is too old.
  await on.sql(`update console_sessions set proven_at = proven_at - interval '6 minutes'`);
  await page.getByRole('button', { name: 'Refund…' }).click();
  const refund = page.getByRole('dialog', { name: 'Refund' });
  await refund.getByLabel('Amount in CNY').fill('4.90');
  await refund.getByLabel('Note').fill('first week did not work');
  await refund.getByText('Effects').waitFor();
  await refund.getByRole('button', { name: 'Refund ¥4.90' }).click();
  const proof = page.getByRole('dialog', { name: 'Confirm your identity' });
  await proof.getByLabel('Password', { exact: true }).fill('something else');
  await proof.getByRole('button', { name: 'Continue' }).click();
  await proof.getByText('The password is wrong.').waitFor();
  expect(on.bank.asked).toEqual([]);
  await proof.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.keyboard.press('Enter');
  await page.getByText('¥4.90 refunded').waitFor();
  await refund.waitFor({ state: 'hidden' });
  expect(on.bank.asked.map(({ amountCent }) => amountCent)).toEqual([490]);
  await past.getByText('Period 2 refunded', { exact: true }).waitFor();
  await past.getByText('first week did not work').first().waitFor();

  // Writes a note for the next call.
  await page.getByLabel('Write a note').fill('Called about period 2. Content with 4.90.');
  await page.getByRole('button', { name: 'Add note' }).click();
  await past.getByText('Called about period 2. Content with 4.90.').waitFor();

  // The channel gets the event.
  const sender = createSendingNode(on.service);
  onTestFinished(() => sender.stop());
  await sender.turn();
  expect(receiver.forged).toEqual([]);
  expect(receiver.pushes.map(({ data }) => data.paymentStatus)).toContain('REFUND_PART');
  await page.reload();
  // The timeline shows each event as one line, with its pushes below.
  const took = past.getByRole('button', { name: /^1 push: Accepted by the channel, HTTP 200/ });
  await took.first().waitFor();
  expect(await took.count()).toBe(receiver.pushes.length);
  const told = past.getByRole('listitem').filter({ hasText: 'Event: period 2 was refunded in part' });
  await told.getByRole('button', { name: /^1 push/ }).click();
  await told
    .getByRole('list', { name: /^Pushes of/ })
    .getByText('Accepted by the channel')
    .waitFor();
  expect(await past.innerText()).not.toMatch(/\b(FAIL_RETRY|REFUND_PART|SUCCESS|ACTIVE)\b/);
});

it('the page of an order names what is wrong, and links to the product, the channel and a receipt', async () => {
  const orderNo = await on.paidOrder();
  await on.sql(`update orders set created_at = '2027-01-31 10:00:00+08' where order_no = $1`, [orderNo]);
  const subject = `${orderNo}000101`;
  await raiseAlert(on.service.fresh.database, 'debit-after-unsubscribe', subject, 'look');
  const page = await consoleBrowser(browser, () => on.service).person('support');
  await page.goto(`/console/orders/${orderNo}`);
  const notice = page.getByRole('region', { name: 'Alerts' }).getByRole('link');
  expect(await notice.innerText()).toMatch(/^Debit after unsubscribing .* Refund the period if appropriate\./s);
  await page.getByText('11 coming periods').click();
  await page.getByText('day 31 of the month, or on the last day of a shorter month').waitFor();
  await page.getByText(/^28 Feb 2027, 10:00$/).waitFor();
  expect(await page.getByRole('link', { name: 'Monthly membership, version 1' }).getAttribute('href')).toBe(
    '/console/products/TEST_SPU_001',
  );
  expect(await page.locator('a[href="/console/channels/test_demo"]').count()).toBe(1);
  const times = page.getByRole('list', { name: 'History' }).locator('time');
  expect(await times.first().innerText()).toMatch(/\d\d:\d\d:\d\d$/);
  const opened = page.waitForEvent('popup');
  await page.getByRole('link', { name: 'Receipt' }).click();
  const receipt = await opened;
  expect(await receipt.locator('dt').allInnerTexts()).toContain('Payment order number');
  // The policy allows the document's own style.
  expect(await receipt.evaluate<string>(`getComputedStyle(document.querySelector('dl div')).display`)).toBe('flex');
  await receipt.close();
  await notice.click();
  await page.getByRole('dialog').getByText(subject).waitFor();
});
