import { type ReferenceProgram, startInstitution } from '@perennial/reference-peers';
import { afterAll, expect, it } from 'vitest';
import { watchInstitutions } from '../../src/engine/jobs/institutions.js';
import { createCallCounter } from '../../src/gateways/call-counts.js';
import { storeCalls } from '../../src/gateways/call-counts-sql.js';
import { setCallback } from '../../src/operator/provisioning/channel-settings.js';
import { createChannel } from '../../src/operator/provisioning/channels.js';
import { authorizeProduct, createProduct } from '../../src/operator/provisioning/products.js';
import { systemClock } from '../../src/platform/clock.js';
import { operatorStage } from '../console/operators.js';
import { createPersonWithPassword } from '../console/support.js';
import { ofFile, serviceOfFile } from '../orders/stage-of-file.js';
import { attachBridge } from '../support/bridged-channel.js';
import { collectRequest, demoChannel, requestAt } from '../support/demo.js';
import { freePort } from '../support/free-port.js';
import { until } from '../support/processes.js';
import { createOrderWithEvents } from '../webhooks/outcomes.js';
import { consoleBrowser, isLoaded, ON_THIS_MACHINE } from './console.js';
import { browserOfFile, scrollsSideways } from './support.js';

const browser = browserOfFile();
const on = ofFile(() => operatorStage(ON_THIS_MACHINE));
const at = consoleBrowser(browser, () => on.service);

/** A service with an engine and the real time, for an incident with a real institution. */
const testLimits = { healthSeconds: 0.1, alertSeconds: { resolved: 0.1, messages: 0.1 } };
const { service, channel } = serviceOfFile(
  { ...ON_THIS_MACHINE, clock: systemClock, engine: true, testLimits },
  (made) => {
    made.clock.set(systemClock.now());
    return demoChannel(made);
  },
);
const atIncident = consoleBrowser(browser, () => service);
let institution: ReferenceProgram | undefined;
afterAll(() => institution?.stop());

it('an address whose last pushes failed is shown as failing, however many pushes it accepted before', async () => {
  const operator = { ...on.operator, localCallbacks: true };
  await setCallback(operator, { appId: 'test_demo', url: 'http://localhost:9/orders' });
  await setCallback(operator, {
    appId: 'test_demo',
    eventType: 'payment.status.changed',
    url: 'http://localhost:9/pay',
  });
  await createOrderWithEvents(on.service.fresh.database, on.channel);
  await on.sql(
    `insert into hourly_figures (hour, channel_id, pushes_accepted, pushes_failed)
     select date_trunc('hour', now()), channel_id, 134, 3 from channels where app_id = 'test_demo'`,
  );
  const page = await at.person('viewer', 'vic');
  await page.goto('/console/events');
  const row = page.getByRole('row', { name: /Demo channel/ });
  await row.getByText('Delivering').waitFor();
  await on.sql(
    `update callback_urls set failures = 3, failed_at = now(), failing_since = now() where event_type = '*'`,
  );
  await page.reload();
  await row.getByText('Failing').waitFor();
  await row.click();
  await page.getByText(/^Failing since/).waitFor();
  expect(await page.getByText(/^Failing since/).count()).toBe(1);
});

it('an institution stops answering: alert, health, pause, test call, resume, Ask now, and the alert has ended', async () => {
  const query = <Row>(text: string, values: readonly unknown[] = []) => service.fresh.database.query<Row>(text, values);
  const port = await freePort();
  const gatewayKey = await attachBridge(
    service.operator,
    channel.credentials.appId,
    'UNIPAY',
    `http://127.0.0.1:${port}`,
  );
  const start = () => startInstitution({ port, key: Buffer.from(gatewayKey, 'base64'), clock: systemClock });
  const create = async () => (await channel.call('orders/create', requestAt(channel, 'UNIPAY'))).data;
  institution = await start();
  const paid = await create();
  expect(paid.orderStatus).toBe('ACTIVE');

  await institution.stop();
  const unknown = [await create(), await create(), await create()];
  expect(unknown.map(({ orderStatus }) => orderStatus)).toEqual(['INITIALIZING', 'INITIALIZING', 'INITIALIZING']);
  // As after an outage of minutes: the next queries are far apart.
  await query(`update debit_attempts set ask_at = now() + interval '10 min' where ask_at is not null`);
  await until('three failed calls', async () => {
    const [row] = await query<{ failures: number }>('select failures from institution_health where failures >= 3');
    return row !== undefined;
  });
  await query(`update institution_health set failing_since = failing_since - interval '3 min'`);
  await until('the alert', async () => {
    const [row] = await query(`select 1 from alerts where kind = 'institution-silent' and resolved_at is null`);
    return row !== undefined;
  });

  const page = await atIncident.person('admin', 'ada');
  await page.goto('/console/alerts');
  await page.getByText('Institution does not answer').first().click();
  await page
    .getByText(/No answer since .+ calls have failed/)
    .first()
    .waitFor();
  await page.goto('/console/health?range=15m');
  const row = page.getByRole('row', { name: /^Pay / }).first();
  await row.getByText('No answer').waitFor();
  const chart = page.getByRole('table', { name: 'Calls to Pay' });
  const unanswered = async () =>
    (await chart.locator('tbody td:last-child').allTextContents()).reduce((sum, count) => sum + Number(count), 0);
  await expect.poll(unanswered).toBeGreaterThanOrEqual(3);

  await row.click();
  await page.waitForURL(/payment-channels\?code=UNIPAY/);
  await query(`update orders set next_due_at = now() + interval '1 hour' where order_no = $1`, [paid.orderNo]);
  await page.getByRole('button', { name: 'Pause renewals…' }).click();
  const dialog = page.getByRole('dialog', { name: /^Pause renewals through/ });
  await dialog.getByText('1 renewal is due in the next 24 hours and will wait').waitFor();
  await dialog.getByText('3 debits without a result are still queried').waitFor();
  const pause = dialog.getByRole('button', { name: 'Pause renewals' });
  expect(await pause.isDisabled()).toBe(true);
  await dialog.getByLabel('Reason').fill('the institution does not answer');
  await pause.click();
  await page.getByText('Renewals wait until they are resumed.').waitFor();
  await query('update orders set next_due_at = now() where order_no = $1', [paid.orderNo]);

  const test = page.getByRole('button', { name: 'Test connection' });
  await test.click();
  await page.getByText('The bridge gave no usable answer.').waitFor();
  await page.getByText(/^Connection refused \(ECONNREFUSED\), \d+ ms$/).waitFor();
  institution = await start();
  await test.click();
  await page.getByText('The bridge answers, with the right key and currency.').waitFor();
  const renewals = () =>
    query<{ status: string }>('select status from payments where order_no = $1 and cycle_no = 2', [paid.orderNo]);
  expect(await renewals()).toEqual([]);

  await page.getByRole('button', { name: 'Resume renewals…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Resume renewals', exact: true }).click();
  await page.getByRole('button', { name: 'Pause renewals…' }).waitFor();
  await until('the renewal', async () => (await renewals())[0]?.status === 'SUCCESS');

  await page.goto('/console/payments?status=STARTED');
  await page.getByText('3 debits', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Ask now about all matching' }).click();
  await page.getByText('The institutions are being queried about 3').waitFor();
  await page.getByText('No debit matches').waitFor();
  for (const { orderNo } of unknown) {
    expect((await channel.call('orders/query', { orderNo })).data.orderStatus).toBe('ACTIVE');
  }
  await page.goto('/console/alerts?which=all');
  await page
    .getByRole('row')
    .filter({ hasText: 'Institution does not answer' })
    .getByText('Resolved')
    .first()
    .waitFor();
});

it('an institution that declines everything is reported, with the reasons of its declines', async () => {
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
});

it('a new channel shows its open steps until the first order', async () => {
  await createChannel(on.operator, { name: 'Newcomer', appId: 'test_newcomer' });
  await createPersonWithPassword(on.service, 'adam', 'admin');
  const page = await at.person('admin', 'adam');
  await page.goto('/console/channels/test_newcomer');
  await page.getByRole('heading', { name: 'Until the first order' }).waitFor();
  await page.getByText('0 of 7 steps done').waitFor();
  await page.getByRole('link', { name: 'Test the callback' }).click();
  await page.waitForURL(/tab=callbacks/);
  // A step that is done here is checked off without a reload.
  await page.getByRole('link', { name: 'Authorize a product' }).click();
  await page.getByRole('combobox', { name: 'Authorize product' }).click();
  await page.getByRole('option', { name: /TEST_SPU_001/ }).click();
  await page.getByRole('button', { name: 'Authorize' }).first().click();
  await page.getByText('1 of 7 steps done').waitFor();
  await page.goto('/console/channels/test_demo');
  await page.getByRole('tab', { name: 'General' }).waitFor();
  // The steps come with an answer of their own, which shows nothing for this channel.
  await page.waitForLoadState('networkidle');
  expect(await page.getByRole('heading', { name: 'Until the first order' }).count()).toBe(0);
});

it('names of 100 characters fit on a desktop and on a small phone', async () => {
  const name = 'Family membership with everything included, '.repeat(3).slice(0, 100);
  await createProduct(on.operator, {
    ...{ productCode: 'LONG_NAME', productName: name, settlementModes: ['CHANNEL_COLLECT'], amountCent: 1990 },
    ...{ periodType: 'MONTH', period: 1, totalCycles: 12 },
    benefits: [{ benefitCode: 'LONG_BENEFIT', faceValueCent: 100, name }],
  });
  await authorizeProduct(on.operator, { appId: 'test_demo', productCode: 'LONG_NAME' });
  await on.sql(`update channels set name = $1 where app_id = 'test_demo'`, [name]);
  const { data } = await on.channel.call('orders/create', collectRequest(on.channel, { productCode: 'LONG_NAME' }));
  for (const width of [1280, 320]) {
    const page = await at.person('viewer', `viewer-${width}`, { viewport: { width, height: 900 } });
    for (const path of [
      'products',
      'products/LONG_NAME',
      'channels',
      'orders',
      `orders/${data.orderNo}`,
      'settlement',
    ]) {
      await page.goto(`/console/${path}`);
      await page.getByText(name).first().waitFor();
      await isLoaded(page);
      expect(await scrollsSideways(page), `${path} at ${width}`).toBe(false);
      const wide = `[...document.querySelectorAll('table')].some((table) => table.scrollWidth > table.parentElement.clientWidth)`;
      expect(await page.evaluate(wide), `a table of ${path} at ${width}`).toBe(false);
    }
  }
});
