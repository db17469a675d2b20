import { createHmac } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { changeMobile, prepareMobile } from '../../src/operator/orders/users/change-mobile.js';
import { webhookReceiver } from '../alerts/receivers.js';
import { ofFile } from '../orders/stage-of-file.js';
import { capturedLog } from '../support/captured-log.js';
import type { Reply } from '../support/channel-client.js';
import { mobileOf, unique } from '../support/demo.js';
import { at, FOREIGN, formOf, noticeOf, type Ordered, post, stage, textOf, titleOf } from './support.js';

/** Tests the messages that the page sends to a user's login mobile over MESSAGE_HOOK_URL. */

const SECRET = 'sixteen characters';
const { log, text: logged } = capturedLog();
const receiver = ofFile(() => webhookReceiver());
const on = ofFile(() =>
  stage({ log, trustedProxies: ['127.0.0.1'], messageHook: { url: receiver.url, secret: SECRET } }),
);
const without = ofFile(stage);

let order: Ordered;
beforeEach(async () => {
  receiver.status = 200;
  receiver.taken.length = 0;
  order = await on.order();
});

const questionOf = ({ path }: Ordered) => at(path, 'unsubscribe');
const statusOf = async ({ orderNo }: Ordered) => (await on.channel.call('orders/query', { orderNo })).data.orderStatus;

/** Returns the fields of the form that posts to an address, from a page with several forms. */
function fieldsOf({ text, ...reply }: Reply, action: string) {
  const [form = ''] = new RegExp(`<form [^>]*action="${action}"[^>]*>.*?</form>`, 's').exec(text) ?? [];
  return formOf({ ...reply, text: form });
}

/** Presses the button that sends a code. */
async function sendCode(of: Ordered) {
  return on.post('/redeem/send-code', fieldsOf(await on.get(questionOf(of)), '/redeem/send-code'));
}

/** Types a code on the page to which the button leads. */
async function typeCode(of: Ordered, code: string) {
  const page = await on.get(`${questionOf(of)}&by=code`);
  return on.post('/redeem/unsubscribe', { ...fieldsOf(page, '/redeem/unsubscribe'), code });
}

const lastCode = (): string => receiver.taken.at(-1)?.body.code;
const otherCode = () => (lastCode() === '000000' ? '111111' : '000000');

/** Lets another message be sent. */
const minuteLater = () => on.query(`update sms_sends set sent_at = sent_at - interval '1 minute'`);

describe('a code for the user who wants to unsubscribe', () => {
  it('303: is sent signed, and ends the order, even if the digits are locked', async () => {
    const question = await on.get(questionOf(order));
    const fields = fieldsOf(question, '/redeem/unsubscribe');
    const digits = mobileOf(order.channelUserId).endsWith('0000') ? '1111' : '0000';
    let locked = question;
    for (let n = 0; n < 3; n += 1) locked = await on.post('/redeem/unsubscribe', { ...fields, digits });
    expect(textOf(locked)).toContain('You can confirm with a code at once.');
    const sent = await on.post('/redeem/send-code', fieldsOf(locked, '/redeem/send-code'));
    expect([sent.status, sent.headers.location]).toEqual([
      303,
      expect.stringMatching(/^\/redeem\/unsubscribe\?.*&by=code$/),
    ]);
    const [message] = receiver.taken;
    expect(message?.body).toEqual({
      messageId: expect.any(String),
      kind: 'CONFIRMATION_CODE',
      appId: 'test_demo',
      mobile: mobileOf(order.channelUserId),
      language: 'en',
      text: `Demo channel: ${lastCode()} is your code to end your subscription. It works for 10 minutes. If you did not ask for it, ignore this message.`,
      code: expect.stringMatching(/^\d{6}$/),
    });
    const signed = `${message?.headers['x-perennial-timestamp']}.${message?.text}`;
    expect(message?.headers['x-perennial-signature']).toBe(createHmac('sha256', SECRET).update(signed).digest('hex'));
    const page = await on.get(sent.headers.location ?? '');
    expect(textOf(page)).toContain('Code from the message');
    expect(page.text).toMatch(/<input id="digits" name="code" [^>]*autocomplete="one-time-code" required autofocus /);
    const ended = await typeCode(order, lastCode());
    expect([ended.status, ended.headers.location]).toEqual([303, expect.stringMatching(/^\/redeem\/ended\?/)]);
    expect(await statusOf(order)).toBe('UNSUBSCRIBED');
  });

  it('422: a wrong code; after three, the code no longer works, and a new one does', async () => {
    await sendCode(order);
    const first = lastCode();
    const tried: (string | undefined)[] = [];
    for (const code of ['12345', ...[1, 2, 3].map(otherCode), first]) tried.push(noticeOf(await typeCode(order, code)));
    expect(tried).toEqual([
      'Please type the six digits of the code.',
      'This is not the code. 2 attempts are left.',
      'This is not the code. One attempt is left.',
      'This code no longer works. Please have a new one sent.',
      'This code no longer works. Please have a new one sent.',
    ]);
    expect(await statusOf(order)).toBe('ACTIVE');
    await minuteLater();
    await sendCode(order);
    expect((await typeCode(order, lastCode())).status).toBe(303);
  });

  it('422: a code that is ten minutes old', async () => {
    await sendCode(order);
    await on.query(`update unsubscribe_tries set code_until = code_until - interval '10 minutes'`);
    expect(noticeOf(await typeCode(order, lastCode()))).toBe('This code no longer works. Please have a new one sent.');
  });

  it('422: a code that was sent to a mobile which is no longer the mobile of the user', async () => {
    await sendCode(order);
    const input = { appId: 'test_demo', channelUserId: order.channelUserId, reason: 'the phone was stolen' };
    const { operator } = on.service;
    await changeMobile(operator, await prepareMobile(operator, { ...input, mobile: mobileOf(unique('new')) }));
    expect((await typeCode(order, lastCode())).status).toBe(422);
    expect(await statusOf(order)).toBe('ACTIVE');
    await sendCode(order);
    expect((await typeCode(order, lastCode())).status).toBe(303);
  });

  it('422: the code of another user', async () => {
    const other = await on.order();
    await sendCode(order);
    const code = lastCode();
    await sendCode(other);
    if (code !== lastCode()) expect((await typeCode(other, code)).status).toBe(422);
    expect(await statusOf(other)).toBe('ACTIVE');
  });

  it('429: one a minute for each mobile', async () => {
    const second = await on.order({ channelUserId: order.channelUserId });
    await sendCode(order);
    const again = await sendCode(second);
    expect([again.status, noticeOf(again)?.includes('A message was sent a moment ago')]).toEqual([429, true]);
    expect(receiver.taken).toHaveLength(1);
    expect((await typeCode(second, lastCode())).status).toBe(303);
  });

  it('429: a visitor causes three messages a day, whatever they are, and leaves others theirs', async () => {
    const late = on.link(order, { exp: Math.floor(on.service.clock.now() / 1000) });
    const sendLink = async () => on.post('/redeem/send-link', formOf(await on.get(late)));
    const statuses = [];
    for (const send of [sendLink, () => sendCode(order), sendLink, sendLink, () => sendCode(order)]) {
      statuses.push((await send()).status);
      await minuteLater();
    }
    expect(statuses).toEqual([200, 303, 200, 429, 429]);
    expect(receiver.taken).toHaveLength(3);
    const fields = fieldsOf(await on.get(questionOf(order)), '/redeem/send-code');
    const other = { 'x-forwarded-for': '192.0.2.7' };
    expect((await post(on.service.baseUrl, '/redeem/send-code', fields, other)).status).toBe(303);
  });

  it('503: the page says so if the receiver refuses, and the log has neither mobile, code nor address', async () => {
    receiver.status = 500;
    const sent = await sendCode(order);
    expect([sent.status, noticeOf(sent)]).toEqual([
      503,
      'The message could not be sent. Please try again in a minute.',
    ]);
    expect(logged()).toContain('MESSAGE_HOOK_URL: HTTP 500');
    for (const secret of [mobileOf(order.channelUserId), receiver.url, order.channelUserId]) {
      expect(logged()).not.toContain(secret);
    }
  });

  it('403: not from the page', async () => {
    const fields = { ...fieldsOf(await on.get(questionOf(order)), '/redeem/send-code'), token: 'other' };
    const sent = await on.post('/redeem/send-code', fields);
    expect([sent.status, titleOf(sent)]).toEqual(FOREIGN);
    expect(receiver.taken).toEqual([]);
  });
});

describe('a new link', () => {
  const lateLink = () => on.link(order, { exp: Math.floor(on.service.clock.now() / 1000) });

  it('is sent to the user of an expired link, and opens the page', async () => {
    const late = await on.get(lateLink());
    expect([late.status, textOf(late).includes('Send a new link to my mobile')]).toEqual([410, true]);
    const sent = await on.post('/redeem/send-link', formOf(late), { 'accept-language': 'zh' });
    expect([sent.status, titleOf(sent)]).toEqual([200, '请查看短信 · Demo channel']);
    const [message] = receiver.taken;
    const { url = '', ...rest } = message?.body ?? {};
    expect(rest).toEqual({
      messageId: expect.any(String),
      kind: 'REDEEM_LINK',
      appId: 'test_demo',
      mobile: mobileOf(order.channelUserId),
      language: 'zh',
      text: `【Demo channel】您的订阅页面：${url}`,
    });
    // The answer has no link, because the holder of an expired link may not be the user.
    const sig = new URL(url).searchParams.get('sig') ?? '';
    expect(sent.text).not.toContain(sig);
    const opened = await on.get(url.replace(/^https:\/\/[^/]*/, ''));
    expect([opened.status, textOf(opened).includes(order.orderNo)]).toEqual([200, true]);
    const again = await on.post('/redeem/send-link', formOf(late));
    expect([again.status, titleOf(again)]).toEqual([429, 'No message was sent · Demo channel']);
    expect(receiver.taken).toHaveLength(1);
  });

  it('can be sent from a page that is still open, which leads back to the subscription', async () => {
    const fields = fieldsOf(await on.get(order.path), '/redeem/send-link');
    const sent = await on.post('/redeem/send-link', fields);
    expect([sent.status, textOf(sent).includes('Back to your subscription')]).toEqual([200, true]);
  });

  it('404 and 403: not for a link that was never valid, nor without the token of the page', async () => {
    const fields = formOf(await on.get(lateLink()));
    const tampered = await on.post('/redeem/send-link', { ...fields, sig: `${fields['sig']}x` });
    const foreign = await on.post('/redeem/send-link', { ...fields, token: 'other' });
    expect([tampered.status, foreign.status]).toEqual([404, 403]);
    expect(receiver.taken).toEqual([]);
  });
});

describe('an installation without MESSAGE_HOOK_URL', () => {
  it('offers no messages, and sends none', async () => {
    const own = await without.order();
    const pages = [own.path, at(own.path, 'unsubscribe'), without.link(own, { exp: 1 })];
    for (const path of pages) expect((await without.get(path)).text).not.toMatch(/send-code|send-link/);
    const fields = formOf(await without.get(own.path));
    for (const path of ['/redeem/send-code', '/redeem/send-link']) {
      expect((await without.post(path, fields)).status).toBe(404);
    }
    const typed = await without.get(`${at(own.path, 'unsubscribe')}&by=code`);
    expect(typed.text).toContain('name="digits"');
  });
});
