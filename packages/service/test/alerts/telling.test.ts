import { createHmac, randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { raiseAlert, raiseAlertOnce, resolveAlert } from '../../src/alerts/alerts-sql.js';
import { createEmailTransport } from '../../src/alerts/email-transport.js';
import { sendAlertMessages, writeAlertMessages } from '../../src/alerts/send-messages.js';
import type { AlertTransport } from '../../src/alerts/transport.js';
import { createWebhookTransport } from '../../src/alerts/webhook-transport.js';
import { logAlerts } from '../../src/engine/jobs/alerts.js';
import { acknowledgeAlert } from '../../src/operator/alerts.js';
import { systemClock } from '../../src/platform/clock.js';
import { perennial } from '../cli/perennial.js';
import { operatorOn } from '../operator/support.js';
import { ofFile } from '../orders/stage-of-file.js';
import { capturedLog } from '../support/captured-log.js';
import { freshDatabase } from '../support/database.js';
import { type MailServer, mailServer, type WebhookReceiver, webhookReceiver } from './receivers.js';

const SECRET = 'a secret of the operator';

const fresh = ofFile(freshDatabase);
let receiver: WebhookReceiver;
let mail: MailServer;
let webhook: AlertTransport;
let email: AlertTransport;
beforeEach(async () => {
  await fresh.database.query('truncate alerts, alert_messages restart identity');
  receiver = await webhookReceiver();
  mail = await mailServer();
  webhook = createWebhookTransport({ url: receiver.url, secret: SECRET }, systemClock);
  email = createEmailTransport({
    url: mail.url,
    from: 'perennial@example.com',
    to: ['ann@example.com', 'bob@example.com'],
  });
});
afterEach(async () => {
  await Promise.all([webhook.close(), email.close()]);
  await Promise.all([receiver.close(), mail.close()]);
});

const captured = capturedLog();
const sender = () => ({ environment: 'production', service: 'https://pay.example' });
const write = (ways = [webhook]) => writeAlertMessages({ database: fresh.database, ways, sender });
const send = (way = webhook) => sendAlertMessages({ database: fresh.database, log: captured.log }, way);
const turn = async () => {
  await write();
  await send();
};
const mailed = async (subject: string, detail?: string) => {
  await raise(subject, detail);
  await write([email]);
  await send(email);
};
const raise = (subject: string, detail = 'the card is closed') =>
  raiseAlert(fresh.database, 'refund-refused', subject, detail);
/** Moves all alerts and messages into the past by `interval`, as if that time had passed. */
const later = (interval: string) =>
  fresh.database.query(
    `with a as (update alerts set told_at = told_at - interval '${interval}'),
       m as (update alert_messages set written_at = written_at - interval '${interval}', send_at = send_at - interval '${interval}')
     select 1`,
  );
const told = () => receiver.taken.map(({ body }) => `${body.type} ${body.count}`);

describe('an alert', () => {
  it('is sent once, with the data of the list', async () => {
    await raise('R100000001000000101');
    await raise('R100000001000000101');
    await turn();
    await raise('R100000001000000101');
    await turn();
    expect(receiver.taken.map(({ body }) => body)).toEqual([
      {
        messageId: '1',
        type: 'alert.opened',
        text: '[warning] refund-refused: about R100000001000000101',
        kind: 'refund-refused',
        severity: 'warning',
        count: 1,
        alerts: [
          {
            subject: 'R100000001000000101',
            detail: 'the card is closed',
            seen: 2,
            firstSeenAt: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
            lastSeenAt: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
            resolvedBecause: null,
          },
        ],
        environment: 'production',
        service: 'https://pay.example',
      },
    ]);
  });

  it('is signed, so that its receiver can verify sender and time', async () => {
    await raise('1');
    await turn();
    const [taken] = receiver.taken;
    if (!taken) throw new Error('nothing was sent');
    const { headers, text } = taken;
    const timestamp = String(headers['x-perennial-timestamp']);
    const expected = createHmac('sha256', SECRET).update(`${timestamp}.${text}`).digest('hex');
    expect(headers['x-perennial-signature']).toBe(expected);
    expect(Math.abs(Number(timestamp) - systemClock.now() / 1000)).toBeLessThan(60);
  });

  it('that stays open is repeated once a day', async () => {
    await raise('1');
    await turn();
    await later('23 hours 59 minutes');
    await turn();
    await later('2 minutes');
    await turn();
    await turn();
    expect(told()).toEqual(['alert.opened 1', 'alert.still-open 1']);
  });

  it('that was acknowledged is not repeated until it recurs', async () => {
    await raise('1');
    await turn();
    await acknowledgeAlert(operatorOn(fresh.database), { kind: 'refund-refused', subject: '1' });
    await later('2 days');
    await turn();
    await raise('1');
    await turn();
    expect(told()).toEqual(['alert.opened 1', 'alert.opened 1']);
  });

  it('is sent when it ends, if it was sent before', async () => {
    await raise('1');
    await turn();
    await raise('2');
    await resolveAlert(fresh.database, 'refund-refused', '1', 'a later refund has succeeded');
    await resolveAlert(fresh.database, 'refund-refused', '2', 'a later refund has succeeded');
    await turn();
    await later('2 days');
    await turn();
    expect(told()).toEqual(['alert.opened 1', 'alert.resolved 1']);
    expect(receiver.taken[1]?.body).toMatchObject({
      text: '[warning] refund-refused: about 1 (resolved)',
      alerts: [{ subject: '1', resolvedBecause: 'a later refund has succeeded' }],
    });
  });

  it('that recurs before its end was sent counts as open all the time', async () => {
    await raise('1');
    await turn();
    await resolveAlert(fresh.database, 'refund-refused', '1', 'x');
    await raise('1');
    await turn();
    expect(told()).toEqual(['alert.opened 1']);
  });

  it('that continues is reopened after it had ended', async () => {
    await raiseAlertOnce(fresh.database, 'billing-failed', '1', 'x');
    await turn();
    await resolveAlert(fresh.database, 'billing-failed', '1', 'x');
    await turn();
    await later('10 minutes');
    await raiseAlertOnce(fresh.database, 'billing-failed', '1', 'x');
    await turn();
    expect(told()).toEqual(['alert.opened 1', 'alert.resolved 1', 'alert.opened 1']);
  });
});

describe('in the log', () => {
  it('an alert is one line in the log of one node, and another line when it is raised again', async () => {
    const { database } = fresh;
    const { log, lines } = capturedLog();
    const turn = () => Promise.all([logAlerts({ database, log }), logAlerts({ database, log })]);
    await raiseAlert(database, 'pool-empty', 'COUPON', 'claims wait for codes to be imported');
    await raiseAlert(database, 'pool-empty', 'COUPON', 'claims wait for codes to be imported');
    await raiseAlert(database, 'webhook-given-up', 'test_partner', '3 events given up together');
    await raiseAlertOnce(database, 'debit-unknown-for-a-day', '100000001000000101', 'still unknown');
    await turn();
    expect(lines().toSorted((a, b) => (a.kind < b.kind ? -1 : 1))).toMatchObject([
      { level: 'warn', msg: 'alert', kind: 'debit-unknown-for-a-day', subject: '100000001000000101', times: 1 },
      { level: 'warn', msg: 'alert', kind: 'pool-empty', subject: 'COUPON', times: 2, seen: 2 },
      { kind: 'webhook-given-up', subject: 'test_partner', detail: '3 events given up together' },
    ]);
    await raiseAlertOnce(database, 'debit-unknown-for-a-day', '100000001000000101', 'still unknown');
    await turn();
    expect(lines()).toHaveLength(3);
    await raiseAlert(database, 'pool-empty', 'COUPON', 'claims wait for codes to be imported');
    await turn();
    expect(lines().slice(3)).toMatchObject([{ kind: 'pool-empty', times: 1, seen: 3 }]);
  });

  it('an alert whose transaction was rolled back is not logged', async () => {
    const { database } = fresh;
    const { log, lines } = capturedLog();
    const broken = database.transaction(async (tx) => {
      await raiseAlert(tx, 'refund-refused', 'R1', 'no');
      throw new Error('and then it failed');
    });
    await expect(broken).rejects.toThrow('and then it failed');
    await logAlerts({ database, log });
    expect(lines()).toEqual([]);
  });
});

describe('many alerts of one kind', () => {
  it('are grouped: the first is sent at once, those of the next minutes in one message with their count', async () => {
    await raise('first');
    await turn();
    for (let n = 1; n <= 30; n += 1) await raise(`R${n}`);
    await turn();
    expect(told()).toEqual(['alert.opened 1']);
    await later('5 minutes');
    await turn();
    expect(told()).toEqual(['alert.opened 1', 'alert.opened 30']);
    expect(receiver.taken[1]?.body).toMatchObject({ text: '[warning] refund-refused: 30 alerts' });
    expect(receiver.taken[1]?.body.alerts).toHaveLength(20);
  });
});

describe('a message', () => {
  it('is written by one of three nodes, and sent by one', async () => {
    for (let n = 1; n <= 5; n += 1) await raise(`${n}`);
    await Promise.all([write(), write(), write()]);
    await Promise.all([send(), send(), send()]);
    expect(told()).toEqual(['alert.opened 5']);
  });

  it('is retried with a growing back-off while its receiver is away, and not lost', async () => {
    receiver.status = 503;
    await raise('1');
    await turn();
    await send();
    receiver.status = 200;
    await send();
    expect(told()).toEqual([]);
    await later('1 minute');
    receiver.status = 500;
    await send();
    receiver.status = 200;
    await later('1 minute');
    expect(await send()).toBe(0);
    await later('1 minute');
    expect(await send()).toBe(1);
    expect(told()).toEqual(['alert.opened 1']);
    expect(await fresh.database.query('select tries, failure, send_at from alert_messages')).toEqual([
      { tries: 3, failure: null, send_at: null },
    ]);
    expect(captured.text()).toContain('HTTP 503');
    expect(captured.text()).not.toMatch(/in-the-address|a secret of/);
  });

  it('survives the death of its node', async () => {
    await raise('1');
    await write();
    const dying: AlertTransport = {
      way: 'WEBHOOK',
      send: () => Promise.reject(new Error('killed')),
      close: async () => undefined,
    };
    await expect(send(dying)).rejects.toThrow('killed');
    await later('1 minute');
    await send();
    expect(told()).toEqual(['alert.opened 1']);
  });

  it('is sent by each transport, and a failure of one does not delay the other', async () => {
    receiver.status = 500;
    await raise('1');
    await write([webhook, email]);
    await Promise.all([send(webhook), send(email)]);
    expect(told()).toEqual([]);
    expect(mail.mails).toHaveLength(1);
  });

  it('contains no card number and no key, whatever an institution has said', async () => {
    const key = randomBytes(32).toString('base64');
    await raise('1', `card 6222020000001234567 of 13800000001 with ${key}`);
    await turn();
    expect(receiver.taken[0]?.body.alerts[0].detail).toBe('card … of … with …');
  });
});

describe('a mail', () => {
  it('has what an operator needs, and goes to all configured addresses', async () => {
    await mailed('R1');
    const [{ from, to, text } = { from: '', to: [], text: '' }] = mail.mails;
    expect({ from, to }).toEqual({ from: 'perennial@example.com', to: ['ann@example.com', 'bob@example.com'] });
    expect(text).toContain('Subject: [Perennial production] [warning] refund-refused: about R1');
    expect(text).toContain('Message-ID: <alert-1@pay.example>');
    expect(text).toContain('R1: the card is closed');
    expect(text).toContain('perennial alert list shows');
  });

  it('escapes line breaks of external texts', async () => {
    await mailed('R1\r\nBcc: eve@example.com', 'first\nsecond');
    const [{ to, text } = { to: [], text: '' }] = mail.mails;
    expect(to).toEqual(['ann@example.com', 'bob@example.com']);
    expect(text).not.toMatch(/^Bcc:/m);
    expect(text).toContain('first\\u{a}second');
  });

  it("that the server refuses is retried; the server's own text is not passed on", async () => {
    mail.refusal = '451 ann@example.com is over quota';
    await mailed('1');
    expect(await fresh.database.query('select failure from alert_messages')).toEqual([
      { failure: expect.stringMatching(/^E[A-Z]+ \(SMTP 451\)$/) },
    ]);
    expect(captured.text()).not.toContain('over quota');
    mail.refusal = undefined;
    await later('1 minute');
    await send(email);
    expect(mail.mails).toHaveLength(1);
  });
});

describe('a mail that the server refuses for one of two addresses', () => {
  const failures = () => fresh.database.query('select failure, tries, sent_at is not null as sent from alert_messages');

  it('is retried for that address only, until it is accepted', async () => {
    mail.refusedPeople.set('bob@example.com', '550 bob@example.com is over quota');
    await mailed('1');
    expect(mail.mails.map(({ to }) => to)).toEqual([['ann@example.com']]);
    expect(await failures()).toEqual([{ failure: 'refused for bob@example.com (SMTP 550)', tries: 1, sent: false }]);
    expect(captured.text()).toContain('refused for bob@example.com (SMTP 550)');
    expect(captured.text()).not.toContain('over quota');
    await later('1 minute');
    await send(email);
    expect(await failures()).toMatchObject([{ tries: 2, sent: false }]);
    mail.refusedPeople.clear();
    await later('2 minutes');
    await send(email);
    expect(mail.mails.map(({ to }) => to)).toEqual([['ann@example.com'], ['bob@example.com']]);
    expect(await failures()).toEqual([{ failure: null, tries: 3, sent: true }]);
  });

  it('holds up no other message', async () => {
    mail.refusedPeople.set('bob@example.com', '450 later');
    await raiseAlert(fresh.database, 'pool-empty', 'COUPON', 'claims wait');
    await mailed('1');
    expect(mail.mails.map(({ to }) => to)).toEqual([['ann@example.com'], ['ann@example.com']]);
  });

  it('is over once that one is not to be written to any more', async () => {
    mail.refusedPeople.set('bob@example.com', '550 no');
    await mailed('1');
    const corrected = createEmailTransport({
      url: mail.url,
      from: 'perennial@example.com',
      to: ['Ann@Example.com', 'eve@example.com'],
    });
    await later('1 minute');
    await send(corrected);
    await corrected.close();
    expect(mail.mails).toHaveLength(1);
    expect(await failures()).toMatchObject([{ sent: true }]);
  });
});

describe('a password for the mail server', () => {
  const addressed = (host: string, query = '') =>
    mail.url.replace('smtp://127.0.0.1', `smtp://ann:s3cret@${host}`) + query;
  const test = (url: string) => perennial(['alert', 'test'], { SMTP_URL: url, ALERT_EMAIL: 'ann@example.com' });
  const wasTold = () => mail.heard.some((line) => line.startsWith('AUTH'));
  // An address that leads to the same server, but that the service does not recognise as this machine.
  const ELSEWHERE = '0.0.0.0';

  it('is not sent to another machine without TLS, and neither is the mail', async () => {
    const ran = await test(addressed(ELSEWHERE));
    expect(ran.code).toBe(1);
    expect(ran.stdout).toMatch(/^email +not taken: ETLS: no TLS to the mail server \(SMTP 502\)$/m);
    expect([wasTold(), mail.mails]).toEqual([false, []]);
  });

  it('is sent to this machine, and elsewhere with ?requireTLS=false', async () => {
    expect((await test(addressed('127.0.0.1'))).code).toBe(0);
    expect(wasTold()).toBe(true);
    mail.heard.length = 0;
    expect((await test(addressed(ELSEWHERE, '/?requireTLS=false'))).code).toBe(0);
    expect(wasTold()).toBe(true);
    expect((await test(addressed('127.0.0.1', '/?requireTLS=true'))).code).toBe(1);
  });
});

describe('perennial alert test', () => {
  const settings = () => ({
    ALERT_WEBHOOK_URL: receiver.url,
    ALERT_WEBHOOK_SECRET: SECRET,
    SMTP_URL: mail.url,
    ALERT_EMAIL: 'ann@example.com',
  });

  it('sends by each configured transport, and reports the results', async () => {
    mail.refusal = '550 no';
    const ran = await perennial(['alert', 'test'], settings());
    expect(ran).toMatchObject({ code: 1, stderr: '' });
    expect(ran.stdout).toMatch(/^webhook +taken$/m);
    expect(ran.stdout).toMatch(/^email +not taken: E[A-Z]+ \(SMTP 550\)$/m);
    mail.refusal = undefined;
    expect(await perennial(['alert', 'test', '--json'], settings())).toEqual({
      code: 0,
      stderr: '',
      stdout: '{"items":[{"way":"WEBHOOK","failure":null},{"way":"EMAIL","failure":null}]}\n',
    });
    expect(receiver.taken.map(({ body }) => body.type)).toEqual(['alert.test', 'alert.test']);
    expect(mail.mails).toHaveLength(1);
  });
});
