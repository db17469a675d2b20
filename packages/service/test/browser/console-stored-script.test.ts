import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { raiseAlert } from '../../src/alerts/alerts-sql.js';
import { createChannel } from '../../src/operator/provisioning/channels.js';
import { authorizePaymentChannel } from '../../src/operator/provisioning/payment-channel-authorizations.js';
import { updatePaymentChannel } from '../../src/operator/provisioning/payment-channels.js';
import { authorizeProduct, createProduct } from '../../src/operator/provisioning/products.js';
import { operatorStage } from '../console/operators.js';
import { ofFile } from '../orders/stage-of-file.js';
import { paid } from '../orders/support.js';
import { type ChannelClient, channelClient } from '../support/channel-client.js';
import { sharedAgreement, sharedRequest } from '../support/demo.js';
import { createSendingNode, registerReceiver } from '../webhooks/sending.js';
import { consoleBrowser, isLoaded, moveTo, ON_THIS_MACHINE } from './console.js';
import { browserOfFile } from './support.js';

/**
 * Stored XSS: text from channels, users, institutions, receivers and operators is shown as text. The content security
 * policy would also refuse the script; these tests check the pages themselves.
 */

const SCRIPT = '<img src=x onerror=alert(1)>';
const APP_ID = 'test_script';

const browser = browserOfFile();
const on = ofFile(() =>
  operatorStage({ ...ON_THIS_MACHINE, localCallbacks: true, refundApprovalCent: 500, requestLog: true }),
);
const ada = consoleBrowser(browser, () => on.service).loaded('admin', 'ada');
let shop: ChannelClient;
let orderNo: string;
let runId: string;
let eventId: string;
beforeAll(async () => {
  shop = await provideShop();
  const receiver = await registerReceiver(on.service, shop, { answer: { status: 500, body: SCRIPT } });
  orderNo = await placeOrder();
  const sender = createSendingNode(on.service);
  await sender.turn();
  await sender.stop();
  await receiver.close();
  [{ id: eventId }] = (await on.sql<{ id: string }>(
    'select event_no::text as id from delivery_attempts order by 1 limit 1',
  )) as [{ id: string }];
  runId = await letPeopleWrite();
});

/** Creates a channel and a product whose names are scripts. */
async function provideShop(): Promise<ChannelClient> {
  const { operator } = on.service;
  const created = await createChannel(operator, { appId: APP_ID, name: SCRIPT, ratePerSecond: 10_000 });
  await createProduct(operator, {
    productCode: 'SCRIPT',
    productName: SCRIPT,
    settlementModes: ['SVC_DEDUCT'],
    periodType: 'MONTH',
    period: 1,
    totalCycles: 12,
    amountCent: 1990,
    benefits: [{ benefitCode: 'SCRIPT', name: SCRIPT, faceValueCent: 100 }],
  });
  await authorizeProduct(operator, { appId: APP_ID, productCode: 'SCRIPT' });
  await updatePaymentChannel(operator, { code: 'MOCKPAY', displayName: SCRIPT });
  await authorizePaymentChannel(operator, { appId: APP_ID, code: 'MOCKPAY', isDefault: true, shareEnabled: true });
  return channelClient(on.service.baseUrl, created, () => on.service.clock.now());
}

/** Creates an order whose external number, user and decline reason are scripts. */
async function placeOrder(): Promise<string> {
  on.institution.onDebit = async (request) => paid(request, { institutionRef: SCRIPT });
  const { data, text } = await shop.call(
    'orders/create',
    sharedRequest(shop, {
      productCode: 'SCRIPT',
      externalOrderNo: SCRIPT,
      channelUserId: SCRIPT,
      sharedAgreement: sharedAgreement(shop, SCRIPT, { sharedAgreementNo: SCRIPT }),
    }),
  );
  if (data?.orderStatus !== 'ACTIVE') throw new Error(`orders/create answered ${text}`);
  on.institution.onDebit = async () => ({ kind: 'declined', decline: 'retryable', reason: SCRIPT });
  await on.renewNow(data.orderNo);
  on.institution.reset();
  return data.orderNo;
}

/** Writes notes, reasons and comments as support and finance operators. Returns the id of a bulk run. */
async function letPeopleWrite(): Promise<string> {
  const wrote = async (reply: Promise<{ status: number; body: unknown }>) => {
    const { status, body } = await reply;
    if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`);
    // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
    return body as any;
  };
  const alert = { kind: 'debit-contradiction', subject: `${orderNo}000101` } as const;
  await raiseAlert(on.service.fresh.database, alert.kind, alert.subject, SCRIPT);
  await wrote(on.support.post('/alerts/comments', { ...alert, text: SCRIPT }));
  await wrote(on.support.post(`/orders/${orderNo}/notes`, { text: SCRIPT }));
  await wrote(on.support.post(`/orders/${orderNo}/unmask`, { reason: SCRIPT }));
  const refund = `/orders/${orderNo}/periods/1/refund`;
  await wrote(on.ann.post(refund, { amountCent: 100, note: SCRIPT, key: 'small' }));
  const { approvalId } = await wrote(on.ann.post(refund, { amountCent: 1_000, note: SCRIPT, key: 'large' }));
  await wrote(on.bob.post(`/approvals/${approvalId}/decline`, { note: SCRIPT }));
  const line = 'DEBIT,999999999999000101,500,SUCCESS,2026-01-30 12:00:00,ref-2';
  const csv = `kind,number,amountCent,status,bookedAt,institutionRef\n${line}\n`;
  await wrote(on.ann.post('/reconciliations', { paymentChannelCode: 'MOCKPAY', day: '2026-01-30', csv }));
  const { differences } = await wrote(on.viewer.get('/differences'));
  await wrote(on.ann.post(`/differences/${differences[0].differenceNo}/close`, { note: SCRIPT }));
  const items = [`${orderNo}-2`];
  const run = await wrote(on.support.post('/bulk', { kind: 'RETRY', items, reason: SCRIPT, key: 'run' }));
  return run.runId;
}

/** Fails if the text has become an element of the page. */
async function expectText(page: Page): Promise<void> {
  expect(await page.locator('img[src=x]').count()).toBe(0);
}

/** Pages, each with the minimum number of times that it must show the text. */
const PAGES: readonly (readonly [path: () => string, times: number])[] = [
  [() => '', 1],
  [() => '/orders', 2],
  [() => `/orders/${orderNo}`, 10],
  [() => `/users?appId=${APP_ID}&channelUserId=${encodeURIComponent(SCRIPT)}`, 3],
  [() => '/payments', 1],
  [() => '/payments?tab=failed', 2],
  [() => '/bulk', 1],
  [() => `/bulk/${runId}`, 1],
  [() => '/approvals?status=ALL', 1],
  [() => '/alerts', 1],
  [() => `/alerts?of=debit-contradiction&subject=${orderNo}000101`, 2],
  [() => '/events', 1],
  [() => `/events?appId=${APP_ID}`, 2],
  [() => `/events?appId=${APP_ID}&event=${eventId}`, 2],
  [() => `/requests?appId=${APP_ID}`, 0],
  [() => '/reconciliation?which=all', 1],
  [() => '/reconciliation?which=all&no=1', 1],
  [() => '/settlement', 1],
  [() => '/channels', 1],
  [() => `/channels/${APP_ID}`, 1],
  [() => `/channels/${APP_ID}?tab=authorizations`, 1],
  [() => '/products', 1],
  [() => '/products/SCRIPT', 3],
  [() => '/payment-channels', 1],
  [() => '/benefits', 0],
  [() => '/audit', 3],
];

describe('a script in a text', () => {
  it('is shown as text on every page, and never runs', async () => {
    const page = await ada('');
    const ran: string[] = [];
    page.on('dialog', (dialog) => {
      ran.push(dialog.message());
      void dialog.dismiss();
    });
    page.on('request', (request) => {
      if (request.url().endsWith('/x')) ran.push(request.url());
    });
    const missing: string[] = [];
    for (const [path, times] of PAGES) {
      await moveTo(page, path());
      await page.getByRole('heading', { level: 1 }).waitFor();
      const found = page.getByText(SCRIPT);
      const isThere = expect.poll(() => found.count()).toBeGreaterThanOrEqual(times);
      await isThere.catch(async () => missing.push(`${path()}: ${await found.count()} of ${times}`));
      await isLoaded(page);
      await expectText(page);
    }
    expect(missing).toEqual([]);
    expect(ran).toEqual([]);
  }, 120_000);

  it('is found by the search, and shown in dialogs and messages', async () => {
    const page = await ada('');
    await page.keyboard.press('/');
    await page.getByRole('textbox', { name: /Order, payment, refund/ }).fill(SCRIPT);
    await page.getByRole('dialog').getByText(orderNo).first().waitFor();
    await expectText(page);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await moveTo(page, `/orders/${orderNo}`);
    await page.getByRole('button', { name: /^JSON of: Debit of period 2 failed/ }).click();
    await page.getByText(`"reason": "${SCRIPT}"`).waitFor();
    await expectText(page);
    await page.getByRole('button', { name: 'Debit again now…' }).click();
    await page.getByRole('dialog').waitFor();
    await expectText(page);
    await moveTo(page, `/channels/${APP_ID}`);
    await page.getByRole('button', { name: 'Suspend' }).click();
    await page.getByRole('dialog', { name: `Suspend ${SCRIPT}?` }).waitFor();
    await expectText(page);
    // An error message about a file shows the file's name.
    await moveTo(page, '/reconciliation');
    await page.getByRole('button', { name: 'Reconcile a day' }).click();
    const dialog = page.getByRole('dialog');
    await dialog
      .getByLabel('File')
      .setInputFiles({ name: `${SCRIPT}.csv`, mimeType: 'text/csv', buffer: Buffer.from([0xff, 0xfe, 0x00]) });
    await dialog.getByRole('alert').filter({ hasText: SCRIPT }).waitFor();
    await expectText(page);
  });
});
