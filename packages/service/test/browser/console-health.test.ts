import { describe, expect, it } from 'vitest';
import { watchInstitutions } from '../../src/engine/jobs/institutions.js';
import { createCallCounter } from '../../src/gateways/call-counts.js';
import { storeCalls } from '../../src/gateways/call-counts-sql.js';
import { createChannel } from '../../src/operator/provisioning/channels.js';
import { operatorStage } from '../console/operators.js';
import { createPersonWithPassword } from '../console/support.js';
import { ofFile } from '../orders/stage-of-file.js';
import { attachBridge } from '../support/bridged-channel.js';
import { consoleBrowser, ON_THIS_MACHINE } from './console.js';
import { browserOfFile } from './support.js';

const browser = browserOfFile();
const on = ofFile(() => operatorStage(ON_THIS_MACHINE));
const at = consoleBrowser(browser, () => on.service);

describe('an incident', () => {
  it('finance learns that an institution declines everything, sees why, pauses renewals and resumes them', async () => {
    const orderNo = await on.paidOrder();
    on.institution.onDebit = async () => ({
      kind: 'declined',
      decline: 'retryable',
      declineKind: 'TECHNICAL',
      reason: 'merchant contract ended (E77)',
    });
    await on.renewNow(orderNo);
    on.institution.reset();
    const counter = createCallCounter();
    for (let n = 0; n < 20; n += 1) {
      counter.countCall('INSTITUTION', 'MOCKPAY', 'declined', 120);
      counter.countDebit('MOCKPAY', { kind: 'declined' });
    }
    await storeCalls(on.service.fresh.database, counter.take());
    await watchInstitutions(on.service.fresh.database);
    await createPersonWithPassword(on.service, 'fay', 'finance');
    const page = await at.person('finance', 'fay');

    await page.goto('/console/alerts');
    await page.getByText('Institution declines every debit').first().click();
    await page
      .getByText(/all 20 debits with a result were declined/)
      .first()
      .waitFor();

    await page.goto('/console/payments?tab=failed');
    await page.getByRole('button', { name: /^Technical error/ }).click();
    await page.waitForURL(/declineKind=TECHNICAL/);
    await page.getByText('Technical error · merchant contract ended (E77)').waitFor();

    await page.goto('/console/health?range=15m');
    const row = page.getByRole('row', { name: /Mock Pay|MOCKPAY/ }).first();
    await row.getByText('Declines everything').waitFor();
    await row.getByText('120 ms').first().waitFor();
    await row.click();
    await page.waitForURL(/payment-channels\?code=MOCKPAY/);
    await on.sql(`update orders set next_due_at = now() + interval '1 hour' where order_no = $1`, [orderNo]);
    await page.getByRole('button', { name: 'Pause renewals…' }).click();
    const dialog = page.getByRole('dialog', { name: /^Pause renewals through/ });
    await dialog.getByText('1 renewal is due in the next 24 hours and will wait').waitFor();
    const pause = dialog.getByRole('button', { name: 'Pause renewals' });
    expect(await pause.isDisabled()).toBe(true);
    await dialog.getByLabel('Reason').fill('contract ended at the institution');
    await pause.click();
    await page.getByText('Renewals wait until they are resumed.').waitFor();
    await on.renewNow(orderNo);
    expect(on.institution.debits).toEqual([]);

    await page.getByRole('button', { name: 'Resume renewals…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Resume renewals', exact: true }).click();
    await page.getByRole('button', { name: 'Pause renewals…' }).waitFor();
    await on.renew();
    expect(on.institution.debits).toHaveLength(1);
  });

  it('support tests the connection to a bridge, and reads why it has no usable answer', async () => {
    await createChannel(on.operator, { name: 'Bridged', appId: 'test_bridged' });
    await attachBridge(on.operator, 'test_bridged', 'UNIPAY', 'http://127.0.0.1:1');
    on.institution.testCalls = async () => [
      { operation: 'handshake', isAnswered: false, ms: 3, said: 'HTTP status 403' },
    ];
    await createPersonWithPassword(on.service, 'sue', 'support');
    const page = await at.person('support', 'sue');
    await page.goto('/console/payment-channels?code=UNIPAY');
    await page.getByRole('button', { name: 'Test connection' }).click();
    await page.getByText('The bridge gave no usable answer.').waitFor();
    await page.getByText('HTTP status 403, 3 ms').waitFor();
    expect(await page.getByRole('button', { name: 'Pause renewals…' }).count()).toBe(0);
  });
});

it('a new channel shows its open steps until the first order', async () => {
  await createChannel(on.operator, { name: 'Newcomer', appId: 'test_newcomer' });
  await createPersonWithPassword(on.service, 'adam', 'admin');
  const page = await at.person('admin', 'adam');
  await page.goto('/console/channels/test_newcomer');
  await page.getByRole('heading', { name: 'Until the first order' }).waitFor();
  await page.getByText('0 of 7 steps done').waitFor();
  await page.getByRole('link', { name: 'The callback was tested' }).click();
  await page.waitForURL(/tab=callbacks/);
  await page.goto('/console/channels/test_demo');
  await page.getByRole('tab', { name: 'General' }).waitFor();
  expect(await page.getByRole('heading', { name: 'Until the first order' }).count()).toBe(0);
});
