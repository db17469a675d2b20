import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { serviceOfFile } from '../orders/stage-of-file.js';
import { collectRequest, demoChannel, encrypted, encryptedCard, mobileOf, unique } from '../support/demo.js';
import { consoleBrowser, ON_THIS_MACHINE } from './console.js';
import { browserOfFile } from './support.js';

const browser = browserOfFile();
const { service, channel } = serviceOfFile(ON_THIS_MACHINE, demoChannel);
const at = consoleBrowser(browser, () => service);

describe("a user's page", () => {
  it('lets an admin export and erase the personal data, once the orders have ended', async () => {
    const channelUserId = unique('user');
    const { data } = await channel.call('orders/create', collectRequest(channel, { channelUserId }));
    const page = await at.person('admin');
    await page.goto(`/console/users?appId=test_demo&channelUserId=${channelUserId}`);
    const saving = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export data' }).click();
    const saved = await saving;
    expect(JSON.parse(await readFile(await saved.path(), 'utf8'))).toMatchObject({
      channelUserId,
      mobile: mobileOf(channelUserId),
      orders: [{ orderNo: Number(data.orderNo) }],
    });

    const erase = async () => {
      await page.getByRole('button', { name: 'Erase data' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Reason').fill('asked for by letter');
      await dialog.getByRole('button', { name: 'Erase data' }).click();
      return dialog;
    };
    const refused = await erase();
    await refused.getByText(`Order ${data.orderNo} of this user is active`).waitFor();
    await refused.getByRole('link', { name: `Open order ${data.orderNo}` }).click();
    await page.getByRole('heading', { name: `Order ${data.orderNo}` }).waitFor();
    await page.goBack();
    await channel.call('orders/unsubscribe', { orderNo: data.orderNo });
    await erase();
    await page.getByText('Personal data erased; 1 order kept').waitFor();
    await page.getByRole('heading', { name: 'Find user' }).first().waitFor();
  });

  it('shows a binding whose code was sent, with the masked mobile that got the code', async () => {
    const channelUserId = unique('user');
    await channel.call('agreements/bind-sms', {
      channelUserId,
      mobileEncrypted: encrypted(channel, mobileOf(channelUserId)),
      ...encryptedCard(channel),
    });
    const page = await at.person('support');
    await page.goto(`/console/users?appId=test_demo&channelUserId=${channelUserId}`);
    const row = page
      .getByRole('table', { name: /^Unfinished bindings/ })
      .getByRole('row')
      .nth(1);
    expect(await row.innerText()).toMatch(/4567.*Signing.*\d{3}\*{4}\d{4}/s);
  });

  it('lets support change the mobile number, which the timeline of the order shows', async () => {
    const channelUserId = unique('user');
    const { data } = await channel.call('orders/create', collectRequest(channel, { channelUserId }));
    const taken = unique('user');
    await channel.call('orders/create', collectRequest(channel, { channelUserId: taken }));
    const page = await at.person('support');
    await page.goto(`/console/orders/${data.orderNo}`);
    await page.getByRole('link', { name: channelUserId }).click();
    await page.getByRole('button', { name: 'Change mobile number' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Reason').fill('lost the former phone');
    await dialog.getByLabel('New mobile number').fill(mobileOf(taken));
    await dialog.getByRole('button', { name: 'Change mobile number' }).click();
    await dialog.getByText('belongs to another user').waitFor();
    const mobile = mobileOf(unique('free'));
    await dialog.getByLabel('New mobile number').fill(`${mobile.slice(0, 3)} ${mobile.slice(3, 7)}-${mobile.slice(7)}`);
    await dialog.getByRole('button', { name: 'Change mobile number' }).click();
    await page.getByText('Mobile number changed').waitFor();
    const masked = `${mobile.slice(0, 3)}****${mobile.slice(-4)}`;
    await page.getByText(masked).waitFor();
    await page.goto(`/console/orders/${data.orderNo}`);
    await page.getByText(`→ ${masked}`).waitFor();
  });

  it('offers neither to support', async () => {
    const channelUserId = unique('user');
    await channel.call('orders/create', collectRequest(channel, { channelUserId }));
    const page = await at.person('support');
    await page.goto(`/console/users?appId=test_demo&channelUserId=${channelUserId}`);
    await page.getByText('Active orders').waitFor();
    expect(await page.getByRole('button', { name: /data$/ }).count()).toBe(0);
  });
});
