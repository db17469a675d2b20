import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createHousekeeping } from '../../src/engine/housekeeping.js';
import { resetPerson } from '../../src/operator/people/people.js';
import { setFulfilment } from '../../src/operator/provisioning/benefits.js';
import { setBranding } from '../../src/operator/provisioning/branding.js';
import { setFrameOrigins, setIpAllowList } from '../../src/operator/provisioning/channel-settings.js';
import { createPaymentChannel } from '../../src/operator/provisioning/payment-channels.js';
import { setPresentation } from '../../src/operator/provisioning/presentations.js';
import { authorizeProduct, createProduct } from '../../src/operator/provisioning/products.js';
import { keyPlaces, openStoredKey } from '../../src/platform/secrets/stored-keys.js';
import { commandLine } from '../cli/support.js';
import { dump } from '../operator/support.js';
import { ofFile } from '../orders/stage-of-file.js';
import { capturedLog } from '../support/captured-log.js';
import { freshDatabase, lockWaits } from '../support/database.js';
import { collectRequest, encrypted, mobileOf, unique } from '../support/demo.js';
import { until } from '../support/processes.js';
import { operatorStage } from './operators.js';
import { type ConsoleClient, consoleClient } from './support.js';

const on = ofFile(() =>
  operatorStage({ environment: 'production', refundApprovalCent: 1_000, refundDailyCent: 5_000 }),
);
beforeEach(() => on.bank.reset());

/** Returns a client of an admin who can sign in. */
async function newAdmin(name: string, stage = on): Promise<ConsoleClient> {
  const client = await consoleClient(stage.service, 'admin', name);
  await stage.sql(`update people set password_hash = 'set' where name = $1`, [name]);
  return client;
}

let names = 0;
const newName = (prefix: string) => `${prefix}-${++names}`;

/** Creates two admins for one test. */
async function twoAdmins(): Promise<[ConsoleClient, ConsoleClient]> {
  return [await newAdmin(newName('ada')), await newAdmin(newName('carl'))];
}

const refund = (who: ConsoleClient, orderNo: string, more: object = {}) =>
  who.post(`/orders/${orderNo}/periods/1/refund`, { note: 'late delivery', key: 'k1', ...more });
const people = async () =>
  new Map<string, { role: string; status: string; hasPassword: boolean }>(
    (await on.admin.get('/people')).body.people.map((one: { name: string }) => [one.name, one]),
  );
const auditOf = (subject: string) =>
  on.sql<{ actor: string; action: string; detail: Record<string, unknown> }>(
    'select actor, action, detail from audit_log where subject = $1 order by audit_id',
    [subject],
  );
const waits = ({ status, body }: { status: number; body: { code?: string; values?: string[] } }) => {
  expect([status, body.code]).toEqual([409, 'change-waits']);
  return body.values?.[0] ?? '';
};

describe('accounts that may approve', () => {
  it('one admin cannot create, reset, promote, enable or unlink one, and gets no link', async () => {
    const [ada] = await twoAdmins();
    const [sock, helper, gone] = [newName('sock'), newName('helper'), newName('gone')];
    await consoleClient(on.service, 'support', helper);
    await consoleClient(on.service, 'finance', gone);
    await on.sql(`update people set status = 'DISABLED' where name = $1`, [gone]);
    await on.sql(`update people set single_sign_on = 'idp ' || name where name = 'bob'`);
    const before = await people();
    const replies = [
      await ada.post('/people', { name: sock, role: 'finance' }),
      await ada.post('/people', { name: newName('sock'), role: 'admin' }),
      await ada.post('/people/bob/reset'),
      await ada.post('/people/bob/unbind'),
      await ada.put(`/people/${helper}/role`, { role: 'finance' }),
      await ada.post(`/people/${gone}/enable`),
    ];
    for (const reply of replies) waits(reply);
    expect(JSON.stringify(replies.map(({ body }) => body))).not.toContain('/setup#');
    expect(await people()).toEqual(before);
    expect(await on.sql('select from people where setup_hash is not null and name = any($1)', [['bob', sock]])).toEqual(
      [],
    );
  });

  it('one admin cannot create one after a database writer has added an entry with a high id', async () => {
    const [ada] = await twoAdmins();
    await on.sql(
      `insert into audit_log (audit_id, at, actor, action, subject, detail) overriding system value
       values (9000000000000000, now(), 'x', 'x', 'x', '{}')`,
    );
    onTestFinished(async () => {
      await on.sql('delete from audit_log where audit_id = 9000000000000000');
    });
    const name = newName('sock');
    waits(await ada.post('/people', { name, role: 'finance' }));
    expect((await people()).has(name)).toBe(false);
  });

  it('one admin alone still creates, resets and enables accounts that approve nothing', async () => {
    const [ada] = await twoAdmins();
    const name = newName('viewer');
    expect((await ada.post('/people', { name, role: 'support' })).body.setupLink).toContain('/setup#');
    expect((await ada.put(`/people/${name}/role`, { role: 'viewer' })).body).toMatchObject({ changed: true });
    expect((await ada.post(`/people/${name}/reset`)).body.setupLink).toContain('/setup#');
    expect((await ada.post(`/people/${name}/disable`)).status).toBe(200);
    expect((await ada.post(`/people/${name}/enable`)).body).toMatchObject({ changed: true });
  });

  it('a second admin approves; the requester alone gets the link, once', async () => {
    const [ada, carl] = await twoAdmins();
    const name = newName('fin');
    const approvalId = waits(await ada.post('/people', { name, role: 'finance' }));
    // A repeated request returns the same approval.
    expect(waits(await ada.post('/people', { name, role: 'finance' }))).toBe(approvalId);
    const path = `/approvals/${approvalId}`;
    expect((await carl.get(path)).body).toMatchObject({
      kind: 'CHANGE',
      status: 'WAITING',
      subject: name,
      orderNo: null,
      runId: null,
      changes: [{ action: 'person.create', subject: name, detail: { role: 'finance' } }],
      mayDecide: true,
      mayCarryOut: false,
    });
    expect((await ada.post(`${path}/approve`)).body.code).toBe('decides-own-request');
    expect((await on.ann.get(path)).body).toMatchObject({ mayDecide: false });
    expect((await on.ann.post(`${path}/approve`)).body.code).toBe('admin-decides');
    expect((await ada.post(`${path}/carry-out`)).body.code).toBe('approval-not-open');

    const approved = await carl.post(`${path}/approve`, { note: 'new colleague' });
    expect(approved.body).toMatchObject({ status: 'APPROVED', decidedBy: carl.name, mayCarryOut: false });
    expect(JSON.stringify(approved.body)).not.toContain('setup#');
    expect((await people()).has(name)).toBe(false);
    expect((await carl.post(`${path}/carry-out`)).body.code).toBe('request-not-yours');

    expect((await ada.get(path)).body).toMatchObject({ mayCarryOut: true });
    const done = await ada.post(`${path}/carry-out`);
    expect(done.body).toMatchObject({
      approval: { status: 'APPROVED', result: 'done', mayCarryOut: false },
      secrets: { setupLink: expect.stringContaining('/setup#') },
    });
    expect((await people()).get(name)).toMatchObject({ role: 'finance', hasPassword: false });
    expect((await ada.post(`${path}/carry-out`)).body.code).toBe('approval-not-open');
    expect(await auditOf(name)).toMatchObject([
      { actor: ada.name, action: 'approval.request', detail: { approvalId, about: 'person.create' } },
      { actor: carl.name, action: 'approval.approve', detail: { approvalId, requestedBy: ada.name } },
      { actor: ada.name, action: 'person.create', detail: { role: 'finance', approvalId, approvedBy: carl.name } },
    ]);
  });

  it('a change that shows nothing is made when it is approved, in the name of its requester', async () => {
    const [ada, carl] = await twoAdmins();
    const name = newName('helper');
    await consoleClient(on.service, 'support', name);
    const approvalId = waits(await ada.put(`/people/${name}/role`, { role: 'finance' }));
    const approved = await carl.post(`/approvals/${approvalId}/approve`);
    expect(approved.body).toMatchObject({ status: 'APPROVED', result: 'done', mayCarryOut: false });
    expect((await people()).get(name)).toMatchObject({ role: 'finance' });
    expect((await auditOf(name)).slice(-2)).toEqual([
      {
        actor: ada.name,
        action: 'person.set-role',
        detail: { from: 'support', to: 'finance', approvalId, approvedBy: carl.name },
      },
      {
        actor: carl.name,
        action: 'approval.approve',
        detail: {
          approvalId,
          about: 'person.set-role',
          requestedBy: ada.name,
          from: 'WAITING',
          to: 'APPROVED',
          note: null,
        },
      },
    ]);
  });

  it('an approval whose change waits for a lock does not hold up other entries of the audit log', async () => {
    const [ada, carl] = await twoAdmins();
    const [name, orderNo] = [newName('helper'), await on.paidOrder()];
    await consoleClient(on.service, 'support', name);
    const approvalId = waits(await ada.put(`/people/${name}/role`, { role: 'finance' }));
    const { database } = on.service.fresh;
    let approved: ReturnType<ConsoleClient['post']> | undefined;
    await database.transaction(async (tx) => {
      await tx.query('select from people where name = $1 for update', [name]);
      approved = carl.post(`/approvals/${approvalId}/approve`);
      await until('the change waits', async () => (await lockWaits(database)) === 1);
      expect((await ada.post(`/orders/${orderNo}/notes`, { text: 'is calling' })).status).toBe(200);
    });
    expect((await approved)?.body).toMatchObject({ status: 'APPROVED', result: 'done' });
  });

  it('a change that is declined, withdrawn or no longer possible is not made', async () => {
    const [ada, carl] = await twoAdmins();
    const [first, second, third] = [newName('fin'), newName('fin'), newName('helper')];
    const declined = waits(await ada.post('/people', { name: first, role: 'finance' }));
    expect((await carl.post(`/approvals/${declined}/decline`)).body).toMatchObject({ status: 'DECLINED' });
    expect((await ada.post(`/approvals/${declined}/carry-out`)).body.code).toBe('approval-not-open');
    const withdrawn = waits(await ada.post('/people', { name: second, role: 'finance' }));
    expect((await ada.post(`/approvals/${withdrawn}/withdraw`)).body).toMatchObject({ status: 'WITHDRAWN' });
    expect((await carl.post(`/approvals/${withdrawn}/approve`)).body.code).toBe('approval-decided');
    await consoleClient(on.service, 'support', third);
    const failed = waits(await ada.put(`/people/${third}/role`, { role: 'admin' }));
    await on.sql('delete from console_sessions where person_id = (select person_id from people where name = $1)', [
      third,
    ]);
    await on.sql('delete from people where name = $1', [third]);
    expect((await carl.post(`/approvals/${failed}/approve`)).body).toMatchObject({
      status: 'FAILED',
      said: { code: 'not-there' },
    });
    const all = await people();
    expect([first, second, third].filter((name) => all.has(name))).toEqual([]);
  });

  it('the request of an operator who is no longer an admin is not carried out', async () => {
    const [ada, carl] = await twoAdmins();
    const name = newName('helper');
    await consoleClient(on.service, 'support', name);
    const approvalId = waits(await ada.put(`/people/${name}/role`, { role: 'admin' }));
    await on.sql(`update people set status = 'DISABLED' where name = $1`, [ada.name]);
    expect((await carl.post(`/approvals/${approvalId}/approve`)).body.code).toBe('requester-not-admin');
    expect((await people()).get(name)).toMatchObject({ role: 'support' });
  });

  it('an approval of an operator who is no longer an admin is not carried out', async () => {
    const [ada, carl] = await twoAdmins();
    const name = newName('fin');
    const approvalId = waits(await ada.post('/people', { name, role: 'finance' }));
    await carl.post(`/approvals/${approvalId}/approve`);
    await on.sql(`update people set status = 'DISABLED' where name = $1`, [carl.name]);
    expect((await ada.post(`/approvals/${approvalId}/carry-out`)).body.code).toBe('approver-not-admin');
    expect((await people()).has(name)).toBe(false);
  });

  it('cannot be approved by a node of the previous release, which stores no result', async () => {
    const [ada] = await twoAdmins();
    const approvalId = waits(await ada.post('/people', { name: newName('fin'), role: 'finance' }));
    const approve = `update approvals set status = 'APPROVED', decided_by = 'carl', decided_at = now() where approval_id = $1`;
    await expect(on.sql(approve, [approvalId])).rejects.toThrow('approvals_kind_check');
  });

  it('an approval that its requester does not use within a day ends', async () => {
    const [ada, carl] = await twoAdmins();
    const approvalId = waits(await ada.post('/people', { name: newName('fin'), role: 'finance' }));
    await carl.post(`/approvals/${approvalId}/approve`);
    await on.sql(`update approvals set decided_at = now() - interval '25 hours' where approval_id = $1`, [approvalId]);
    expect((await ada.get(`/approvals/${approvalId}`)).body).toMatchObject({ mayCarryOut: false });
    expect((await ada.post(`/approvals/${approvalId}/carry-out`)).body.code).toBe('approval-not-open');
  });
});

describe('the seven days', () => {
  it.each(['person.create', 'person.reset', 'person.enable', 'person.set-role'])(
    'after %s neither account decides what the other has requested',
    async (action) => {
      const [ada, carl] = await twoAdmins();
      const puppet = await consoleClient(on.service, 'finance', newName('puppet'));
      await on.sql(
        `insert into audit_log (at, actor, action, subject, detail)
         values (now(), $1, $2, $3, '{"from": "support", "to": "finance"}')`,
        [ada.name, action, puppet.name],
      );
      const [orderNo, other] = [await on.paidOrder(), await on.paidOrder()];
      const { approvalId } = (await refund(ada, orderNo)).body;
      for (const verb of ['approve', 'decline']) {
        const refused = await puppet.post(`/approvals/${approvalId}/${verb}`);
        expect([refused.status, refused.body.code]).toEqual([409, 'decides-for-each-other']);
        expect(refused.body.detail).toMatch(/from \d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
      }
      const { approvalId: back } = (await refund(puppet, other)).body;
      expect((await ada.post(`/approvals/${back}/approve`)).body.code).toBe('decides-for-each-other');
      expect(on.bank.booked.size).toBe(0);
      // Carl may decide at once. Ada and the puppet may decide for each other only after a week.
      expect((await carl.post(`/approvals/${back}/approve`)).body).toMatchObject({ status: 'APPROVED' });
      await on.sql(`update audit_log set at = at - interval '7 days 1 minute' where subject = $1`, [puppet.name]);
      expect((await puppet.post(`/approvals/${approvalId}/approve`)).body).toMatchObject({ status: 'APPROVED' });
    },
  );
});

describe('an account of support that one admin has made alone', () => {
  /** Returns an account of support that ada made, and ada's own, a month later. */
  async function puppetOf(ada: ConsoleClient) {
    const name = newName('puppet');
    expect((await ada.post('/people', { name, role: 'support' })).status).toBe(200);
    await older(name);
    return consoleClient(on.service, 'support', name);
  }
  const older = (name: string) =>
    on.sql(`update audit_log set at = at - interval '30 days' where subject = $1`, [name]);

  it('requests nothing that this admin approves, however long ago, until another admin resets it', async () => {
    const [ada, carl] = await twoAdmins();
    const puppet = await puppetOf(ada);
    const { approvalId } = (await refund(puppet, await on.paidOrder())).body;
    const { approvalId: second } = (await refund(puppet, await on.paidOrder())).body;
    for (const verb of ['approve', 'decline']) {
      const refused = await ada.post(`/approvals/${approvalId}/${verb}`);
      expect([refused.status, refused.body.code]).toEqual([409, 'decides-with-own-account']);
    }
    expect(on.bank.booked.size).toBe(0);
    expect((await carl.post(`/approvals/${second}/approve`)).body).toMatchObject({ status: 'APPROVED' });
    expect((await carl.post(`/people/${puppet.name}/reset`)).status).toBe(200);
    await older(puppet.name);
    expect((await ada.post(`/approvals/${approvalId}/approve`)).body).toMatchObject({ status: 'APPROVED' });
  });

  it('is promoted from viewer: the seven days begin again', async () => {
    const [ada] = await twoAdmins();
    const name = newName('viewer');
    await consoleClient(on.service, 'viewer', name);
    expect((await ada.put(`/people/${name}/role`, { role: 'support' })).body).toMatchObject({ changed: true });
    const promoted = await consoleClient(on.service, 'support', name);
    const { approvalId } = (await refund(promoted, await on.paidOrder())).body;
    expect((await ada.post(`/approvals/${approvalId}/approve`)).body.code).toBe('decides-for-each-other');
    await older(name);
    expect((await ada.post(`/approvals/${approvalId}/approve`)).body).toMatchObject({ status: 'APPROVED' });
  });
});

describe('two accounts with the same maker', () => {
  it('do not decide for each other for seven days, because one person may have both setup links', async () => {
    const [ada, carl] = await twoAdmins();
    const names = [newName('fin'), newName('fin')];
    for (const name of names) {
      const approvalId = waits(await ada.post('/people', { name, role: 'finance' }));
      await carl.post(`/approvals/${approvalId}/approve`);
      expect((await ada.post(`/approvals/${approvalId}/carry-out`)).body.secrets.setupLink).toContain('/setup#');
    }
    const [one, other] = await Promise.all(names.map((name) => consoleClient(on.service, 'finance', name)));
    if (!one || !other) throw new Error('two names are two clients');
    const { approvalId } = (await refund(one, await on.paidOrder())).body;
    expect((await other.post(`/approvals/${approvalId}/approve`)).body.code).toBe('decides-for-each-other');
    expect(on.bank.booked.size).toBe(0);
    await on.sql(`update audit_log set at = at - interval '7 days 1 minute' where subject = $1`, [one.name]);
    expect((await other.post(`/approvals/${approvalId}/approve`)).body).toMatchObject({ status: 'APPROVED' });
  });

  it('decide at once if they were made on the command line', async () => {
    const names = [newName('fin'), newName('fin')];
    const [one, other] = await Promise.all(names.map((name) => consoleClient(on.service, 'finance', name)));
    if (!one || !other) throw new Error('two names are two clients');
    await on.sql(
      `insert into audit_log (at, actor, action, subject, detail)
       select now(), 'cli:root@host', 'person.create', name, '{"role": "finance"}' from unnest($1::text[]) as name`,
      [names],
    );
    const { approvalId } = (await refund(one, await on.paidOrder())).body;
    expect((await other.post(`/approvals/${approvalId}/approve`)).body).toMatchObject({ status: 'APPROVED' });
  });
});

describe('the refunds of one operator in 24 hours', () => {
  it('above the daily limit need a second operator, even if twenty are made at once', async () => {
    const person = await consoleClient(on.service, 'finance', newName('fin'));
    const orders = await Promise.all(Array.from({ length: 20 }, () => on.paidOrder()));
    // On a busy machine some requests wait too long for the lock of this person. They get 503 and are sent again.
    const refundAtLast = async (orderNo: string) => {
      for (;;) {
        const reply = await refund(person, orderNo, { amountCent: 1_000 });
        if (reply.status !== 503) return reply;
      }
    };
    const replies = await Promise.all(orders.map(refundAtLast));
    const made = replies.filter(({ body }) => body.status === 'SUCCESS');
    expect(made).toHaveLength(5);
    expect(replies.filter(({ body }) => body.status === 'WAITING')).toHaveLength(15);
    const preview = await person.get(`/orders/${orders[0]}/periods/1/refund/preview?amountCent=1`);
    expect(preview.body).toMatchObject({ needsApproval: true });

    // Refunds that a second person approved do not count. Refunds made more than 24 hours ago no longer count.
    const { approvalId } = replies.find(({ body }) => body.status === 'WAITING')?.body ?? {};
    await on.bob.post(`/approvals/${approvalId}/approve`);
    await on.sql(
      `update refunds set started_at = started_at - interval '25 hours' where requested_by = $1 and approval_id is null`,
      [person.name],
    );
    const again = await on.paidOrder();
    expect((await refund(person, again, { amountCent: 1_000 })).body).toMatchObject({ status: 'SUCCESS' });
  });
});

describe('bridges, prices, addresses and secrets', () => {
  const bridge = {
    displayName: 'Uni',
    gateway: 'bridge',
    gatewayUrl: 'https://bridge.example/uni',
    supportedBanks: ['*'],
  };
  const supplierUrl = 'https://supplier.example/codes';
  const newKey = () => randomBytes(32).toString('base64');
  const product = {
    productName: 'VIP',
    settlementModes: ['SVC_DEDUCT'],
    periodType: 'MONTH',
    period: 1,
    totalCycles: 12,
    amountCent: 1_990,
    benefits: [],
  };
  /** Creates a bridge and a product with the same code. `stored` reads what one admin alone must not change. */
  async function setUp() {
    const code = newName('UNI').toUpperCase().replace('-', '_');
    await createPaymentChannel(on.operator, { code, ...bridge });
    await createProduct(on.operator, { productCode: code, ...product });
    const { appId } = on.channel.credentials;
    await authorizeProduct(on.operator, { appId, productCode: code });
    const supplierKey = Buffer.from(newKey(), 'base64');
    await setFulfilment(on.operator, { benefitCode: code, kind: 'supplier', supplierUrl, supplierKey });
    await setFrameOrigins(on.operator, { appId, origins: ['https://shop.example'] });
    await setIpAllowList(on.operator, { appId, ranges: ['127.0.0.0/8', '10.0.0.0/8'] });
    await setBranding(on.operator, { appId, shopUrl: 'https://shop.example/', support: 'help@shop.example' });
    await setPresentation(on.operator, { benefitCode: code, useUrl: 'https://shop.example/use' });
    const stored = () =>
      on.sql<object>(
        `select p.gateway_url, p.gateway_key, c.app_secret, c.aes_key,
           (select row(kind, supplier_url, supplier_key)::text from benefit_fulfilments where benefit_code = p.code) as supplier,
           (select count(*)::integer from channels) as channels, (select count(*)::integer from callback_urls) as urls,
           (select string_agg(product_code, ' ' order by product_code) from channel_products where product_code like $1 || '%')
             as products, p.common_numbers, c.frame_origins::text, c.ip_allow_list::text,
           (select b::text from channel_brandings b where b.channel_id = c.channel_id) as branding,
           (select s::text from benefit_presentations s where s.benefit_code = p.code) as presentation
         from payment_channels p, channels c where p.code = $1 and c.app_id = $2`,
        [code, appId],
      );
    return { code, appId, stored };
  }

  it('one admin changes none of them, and sees no secret', async () => {
    const [ada] = await twoAdmins();
    const { code, appId, stored } = await setUp();
    const before = await stored();
    const replies = [
      await ada.put(`/payment-channels/${code}`, { gatewayUrl: 'https://thief.example/' }),
      await ada.post('/payment-channels', { code: `${code}_B`, ...bridge }),
      await ada.post(`/payment-channels/${code}/key`),
      await ada.post(`/products/${code}/versions`, { amountCent: 1, replacesForChannels: true }),
      await ada.put(`/benefits/${code}/fulfilment`, { kind: 'supplier', supplierUrl: 'https://thief.example/' }),
      await ada.put(`/benefits/${code}/fulfilment`, { kind: 'supplier', supplierKey: newKey() }),
      await ada.put(`/benefits/${code}_B/fulfilment`, { kind: 'supplier', supplierUrl, supplierKey: newKey() }),
      await ada.put(`/channels/${appId}`, { callback: { eventType: '*', url: 'https://thief.example/events' } }),
      await ada.put(`/payment-channels/${code}`, { commonNumbers: true }),
      await ada.put(`/channels/${appId}`, { frameOrigins: ['https://shop.example', 'https://thief.example'] }),
      await ada.put(`/channels/${appId}`, { ipAllowList: [] }),
      await ada.put(`/channels/${appId}`, { ipAllowList: ['0.0.0.0/1', '128.0.0.0/1'] }),
      await ada.put(`/channels/${appId}`, { ipAllowList: ['127.0.0.0/8', '10.0.0.0/8', '198.51.100.7'] }),
      await ada.put(`/channels/${appId}/branding`, { shopUrl: 'https://thief.example/' }),
      await ada.put(`/channels/${appId}/branding`, { termsUrl: 'https://thief.example/' }),
      await ada.put(`/channels/${appId}/branding`, { support: 'https://thief.example/' }),
      await ada.put(`/channels/${appId}/branding`, { support: 'help@thief.example' }),
      await ada.put(`/channels/${appId}/branding`, { support: '+1 900 555 0199' }),
      await ada.put(`/benefits/${code}/presentation`, { useUrl: 'https://thief.example/' }),
      await ada.post('/channels', { name: 'Mine' }),
      await ada.post(`/channels/${appId}/credentials`, { names: ['appSecret'] }),
    ];
    for (const reply of replies) waits(reply);
    expect(await stored()).toEqual(before);
    expect(JSON.stringify(replies.map(({ body }) => body))).not.toMatch(/[\w+/]{40}/);
    const kept = await on.sql<{ change: string }>(`select change::text from approvals where kind = 'CHANGE'`);
    for (const { change } of kept) expect(change).not.toMatch(/setup#|[A-Za-z0-9+/]{43}=/);
  });

  it('one admin still changes the other settings, and may set the current address again', async () => {
    const [ada] = await twoAdmins();
    const { code, appId } = await setUp();
    expect((await ada.put(`/payment-channels/${code}`, { displayName: 'Uni Plus' })).body).toMatchObject({
      changed: true,
    });
    const same = await ada.put(`/payment-channels/${code}`, { gatewayUrl: bridge.gatewayUrl });
    expect(same.body).toMatchObject({ changed: false });
    expect((await ada.post(`/products/${code}/versions`, { amountCent: 2_190 })).status).toBe(200);
    const fulfilment = (body: object) => ada.put(`/benefits/${code}/fulfilment`, body);
    expect((await fulfilment({ kind: 'supplier', supplierUrl })).body).toMatchObject({ changed: false });
    expect((await fulfilment({ kind: 'pool' })).body).toMatchObject({ changed: true });
    expect((await fulfilment({ kind: 'supplier' })).body).toMatchObject({ changed: true });
    expect((await ada.put(`/payment-channels/${code}`, { commonNumbers: false })).body).toMatchObject({
      changed: false,
    });
    const presentation = { nameEn: 'Pass', useUrl: 'https://shop.example/next' };
    expect((await ada.put(`/benefits/${code}/presentation`, presentation)).body).toMatchObject({ changed: true });
    const branding = { shopUrl: 'https://shop.example/vip', support: 'hello@Shop.example', accent: '#0a6b4b' };
    expect((await ada.put(`/channels/${appId}/branding`, branding)).body).toMatchObject({ changed: true });
    const removed = { frameOrigins: [], ipAllowList: ['127.0.0.0/8'] };
    expect((await ada.put(`/channels/${appId}`, removed)).body).toMatchObject({ changed: true });
    await setIpAllowList(on.operator, { appId, ranges: [] });
    const first = { ipAllowList: ['127.0.0.0/8', '198.51.100.7'] };
    expect((await ada.put(`/channels/${appId}`, first)).body).toMatchObject({ changed: true });
    const limits = { limits: { ratePerSecond: 20_000, rateBurst: 40_000 } };
    expect((await ada.put(`/channels/${appId}`, limits)).body).toMatchObject({ changed: true });
  });

  it('a request that its step refuses is refused at once', async () => {
    const [ada] = await twoAdmins();
    const { code } = await setUp();
    expect((await ada.post('/payment-channels', { code, ...bridge })).body.code).toBe('payment-channel-exists');
    expect((await ada.put(`/payment-channels/${code}`, { gatewayUrl: 'http://bridge.example/' })).body.code).toBe(
      'url-not-https',
    );
  });

  it('a second admin sees the address for which a key is replaced', async () => {
    const [ada, carl] = await twoAdmins();
    const { code } = await setUp();
    // Without a key, nothing shows that the address was changed in the database.
    const gatewayUrl = 'https://thief.example/';
    await on.sql('update payment_channels set gateway_url = $2, gateway_key = null where code = $1', [
      code,
      gatewayUrl,
    ]);
    const approvalId = waits(await ada.post(`/payment-channels/${code}/key`));
    expect((await carl.get(`/approvals/${approvalId}`)).body.changes).toEqual([
      { action: 'payment-channel.reset-key', subject: code, detail: { gatewayUrl } },
    ]);
  });

  it('a second admin sees the old and the new value, and approves it', async () => {
    const [ada, carl] = await twoAdmins();
    const { code, stored } = await setUp();
    const [before] = await stored();
    const gatewayUrl = 'https://bridge.example/next';
    const approvalId = waits(await ada.put(`/payment-channels/${code}`, { gatewayUrl }));
    expect((await carl.get(`/approvals/${approvalId}`)).body.changes).toEqual([
      {
        action: 'payment-channel.update',
        subject: code,
        detail: { from: { gatewayUrl: bridge.gatewayUrl }, to: { gatewayUrl } },
      },
    ]);
    expect((await carl.post(`/approvals/${approvalId}/approve`)).body).toMatchObject({ result: 'done' });
    // The key is bound to the address, so it is wrapped again.
    expect(await stored()).toEqual([{ ...before, gateway_url: gatewayUrl, gateway_key: expect.any(String) }]);
  });

  it('an approved key of a supplier is the requested one, for the address that the second admin saw', async () => {
    const [ada, carl] = await twoAdmins();
    const { code } = await setUp();
    const supplierKey = newKey();
    const path = `/benefits/${code}/fulfilment`;
    const approvalId = waits(await ada.put(path, { kind: 'supplier', supplierKey }));
    const shown = { kind: 'SUPPLIER', supplierUrl };
    expect((await carl.get(`/approvals/${approvalId}`)).body.changes).toEqual([
      { action: 'benefit.set-fulfilment', subject: code, detail: { from: shown, to: shown, newKey: true } },
    ]);
    const elsewhere = waits(await ada.put(path, { kind: 'supplier', supplierUrl: 'https://supplier.example/next' }));
    expect((await carl.post(`/approvals/${elsewhere}/approve`)).body).toMatchObject({ result: 'done' });
    expect((await carl.post(`/approvals/${approvalId}/approve`)).body).toMatchObject({ result: 'done' });
    const [row] = await on.sql<{ url: string; key: string }>(
      'select supplier_url as url, supplier_key as key from benefit_fulfilments where benefit_code = $1',
      [code],
    );
    expect(row?.url).toBe(supplierUrl);
    const place = keyPlaces.supplier(code, supplierUrl);
    const { database } = on.service.fresh;
    const opened = await openStoredKey(database, on.service.vault, row?.key ?? '', place);
    expect(Buffer.from(opened).toString('base64')).toBe(supplierKey);
  });

  it('a new channel has the app id that was approved, and its requester gets the secrets', async () => {
    const [ada, carl] = await twoAdmins();
    const approvalId = waits(await ada.post('/channels', { name: 'Shop' }));
    const { subject } = (await carl.post(`/approvals/${approvalId}/approve`)).body;
    const { secrets } = (await ada.post(`/approvals/${approvalId}/carry-out`)).body;
    expect(secrets).toEqual({
      appId: subject,
      appSecret: expect.any(String),
      aesKey: expect.any(String),
      callbackSecret: expect.any(String),
    });
    expect((await ada.get(`/channels/${subject}`)).body).toMatchObject({ name: 'Shop' });
  });
});

describe('personal data of a user', () => {
  /** Ends the order and its user's agreements, and returns the user. */
  async function userOf(orderNo: string): Promise<{ appId: string; channelUserId: string }> {
    await on.admin.post(`/orders/${orderNo}/unsubscribe`, { reason: 'moved away' });
    await on.sql(
      `update agreements set status = 'CANCELED', cancel_at = null from orders o
       where o.order_no = $1 and agreements.channel_user_id = o.channel_user_id`,
      [orderNo],
    );
    const [row] = await on.sql<{ appId: string; channelUserId: string }>(
      `select c.app_id as "appId", o.channel_user_id as "channelUserId"
       from orders o join channels c using (channel_id) where o.order_no = $1`,
      [orderNo],
    );
    if (!row) throw new Error('the order does not exist');
    return row;
  }
  const stored = async (approvalId: string) =>
    (await on.sql<{ text: string }>('select a::text as text from approvals a where approval_id = $1', [approvalId]))[0]
      ?.text;

  it('is exported to its requester after a second admin has approved, and stored nowhere', async () => {
    const [ada, carl] = await twoAdmins();
    const orderNo = await on.paidOrder();
    const user = await userOf(orderNo);
    const asked = await ada.post('/users/export', user);
    const approvalId = waits(asked);
    expect(JSON.stringify(asked.body)).not.toContain(orderNo);
    const detail = { appId: user.appId, channelUserId: user.channelUserId };
    expect((await carl.get(`/approvals/${approvalId}`)).body.changes).toMatchObject([
      { action: 'user.export', detail },
    ]);
    expect(JSON.stringify((await on.ann.get(`/approvals/${approvalId}`)).body)).not.toContain(user.channelUserId);
    const approved = await carl.post(`/approvals/${approvalId}/approve`);
    expect(JSON.stringify(approved.body)).not.toContain('userData');
    const { secrets } = (await ada.post(`/approvals/${approvalId}/carry-out`)).body;
    expect(JSON.parse(secrets.userData)).toMatchObject({ ...user, orders: [{ orderNo: expect.anything() }] });
    expect(await stored(approvalId)).not.toContain(user.channelUserId);
    expect((await ada.post(`/approvals/${approvalId}/carry-out`)).body.code).toBe('approval-not-open');
  });

  it('leaves no id in a request that was approved, but not carried out within a day', async () => {
    const [ada, carl] = await twoAdmins();
    const user = await userOf(await on.paidOrder());
    const approvalId = waits(await ada.post('/users/export', user));
    await carl.post(`/approvals/${approvalId}/approve`);
    const tidy = createHousekeeping({ database: on.service.fresh.database, log: capturedLog().log });
    await tidy();
    expect(await stored(approvalId)).toContain(user.channelUserId);
    await on.sql(`update approvals set decided_at = now() - interval '25 hours' where approval_id = $1`, [approvalId]);
    expect(await tidy()).toHaveProperty('lapsedChangesForgotten');
    expect(await stored(approvalId)).not.toContain(user.channelUserId);
  });

  it('is erased when a second admin approves, and no request keeps the id or the reason', async () => {
    const [ada, carl] = await twoAdmins();
    const user = await userOf(await on.paidOrder());
    const exported = waits(await ada.post('/users/export', user));
    const reason = 'moved to Chengdu';
    const erased = waits(await ada.post('/users/erase', { ...user, reason }));
    expect((await carl.get(`/approvals/${erased}`)).body.changes).toMatchObject([{ detail: { reason } }]);
    expect(JSON.stringify((await on.ann.get(`/approvals/${erased}`)).body)).not.toContain(reason);
    const isThere = async () =>
      (await on.sql('select from orders where channel_user_id = $1', [user.channelUserId])).length > 0;
    expect(await isThere()).toBe(true);
    expect((await carl.post(`/approvals/${erased}/approve`)).body).toMatchObject({ result: 'done' });
    expect(await isThere()).toBe(false);
    for (const approvalId of [exported, erased]) {
      const row = await stored(approvalId);
      for (const text of [user.channelUserId, reason]) expect(row).not.toContain(text);
    }
    await carl.post(`/approvals/${exported}/approve`);
    expect((await ada.post(`/approvals/${exported}/carry-out`)).body).toMatchObject({
      approval: { status: 'FAILED' },
      secrets: {},
    });
  });
});

describe('the mobile number of a user', () => {
  const request = (who: ConsoleClient, { channelUserId }: { readonly channelUserId: string }, mobile: string) =>
    who.post('/users/mobile', { appId: on.channel.credentials.appId, channelUserId, mobile, reason: 'new number' });
  /** Returns a user with an order, and a number that nobody has. */
  async function subscriber() {
    const channelUserId = unique('user');
    const reply = await order({ channelUserId });
    expect(reply.code, reply.text).toBe('0');
    return { channelUserId, orderNo: String(reply.data.orderNo), free: mobileOf(unique('free')) };
  }
  const order = (more: object) => on.channel.call('orders/create', collectRequest(on.channel, { ...more }));
  const withMobile = (channelUserId: string, mobile: string) =>
    order({ channelUserId, mobileEncrypted: encrypted(on.channel, mobile) });
  const shownMobile = async ({ orderNo }: { readonly orderNo: string }) =>
    (await on.support.get(`/orders/${orderNo}`)).body.mobile;
  it('is not changed by two accounts of support that one admin has made alone, until another admin resets one', async () => {
    const [ada, carl] = await twoAdmins();
    const [one = '', other = ''] = [newName('helper'), newName('helper')];
    for (const name of [one, other]) await ada.post('/people', { name, role: 'support' });
    const clients = [
      await consoleClient(on.service, 'support', one),
      await consoleClient(on.service, 'support', other),
    ];
    const [asking, deciding] = clients as [ConsoleClient, ConsoleClient];
    const later = () =>
      on.sql(`update audit_log set at = at - interval '30 days' where subject = any($1)`, [[one, other]]);
    await later();
    const user = await subscriber();
    const approvalId = waits(await request(asking, user, user.free));
    for (const verb of ['approve', 'decline']) {
      const refused = await deciding.post(`/approvals/${approvalId}/${verb}`);
      expect([refused.status, refused.body.code]).toEqual([409, 'decides-with-own-account']);
    }
    await carl.post(`/people/${other}/reset`);
    await later();
    const again = await consoleClient(on.service, 'support', other);
    expect((await again.post(`/approvals/${approvalId}/approve`)).body).toMatchObject({ status: 'APPROVED' });
  });

  const masked = (mobile: string) => `${mobile.slice(0, 3)}****${mobile.slice(-4)}`;

  it('changes when a second operator of support approves, who sees both numbers masked', async () => {
    const user = await subscriber();
    const { channelUserId, orderNo, free } = user;
    const former = mobileOf(channelUserId);
    const other = await consoleClient(on.service, 'support', newName('sue'));
    await on.sql(`update people set password_hash = 'set' where name = $1`, [other.name]);
    expect((await request(on.ann, { channelUserId }, free)).status).toBe(403);
    const approvalId = waits(await request(on.support, { channelUserId }, free));
    expect(waits(await request(on.support, { channelUserId }, free))).toBe(approvalId);
    expect(waits(await request(on.support, { channelUserId }, mobileOf(unique('free'))))).not.toBe(approvalId);
    const path = `/approvals/${approvalId}`;
    const mobiles = { formerMobile: masked(former), newMobile: masked(free) };
    expect((await other.get(path)).body).toMatchObject({
      decider: 'support',
      mayDecide: true,
      changes: [{ action: 'user.change-mobile', detail: { channelUserId, reason: 'new number', ...mobiles } }],
    });
    expect(JSON.stringify((await on.ann.get(path)).body)).not.toContain(channelUserId);
    expect((await on.support.post(`${path}/approve`)).body.code).toBe('decides-own-request');
    expect((await on.ann.post(`${path}/approve`)).body.code).toBe('support-decides');
    expect(await shownMobile(user)).toBe(masked(former));
    expect((await other.post(`${path}/approve`)).body).toMatchObject({ status: 'APPROVED', result: 'done' });
    expect(await shownMobile(user)).toBe(masked(free));
    expect((await withMobile(channelUserId, former)).code).toBe('410010');
    expect((await withMobile(channelUserId, free)).code).toBe('0');
    expect((await withMobile(unique('user'), free)).code).toBe('410011');
    const { timeline } = (await on.viewer.get(`/orders/${orderNo}`)).body;
    const entries = timeline.filter(({ title }: { title: string }) => title.startsWith('user.'));
    expect(entries).toMatchObject([
      { kind: 'operator', title: 'user.change-mobile', actor: on.support.name, detail: 'new number' },
    ]);
    expect(entries[0].data.detail).toMatchObject({ ...mobiles, approvedBy: other.name });
    // The only copies are sealed.
    expect(await dump(on.service.fresh.database)).not.toContain(free);
  });

  it('is refused if it is malformed, unchanged, unknown or taken, also if it was taken since the request', async () => {
    const [one, two] = [await subscriber(), await subscriber()];
    const codeOf = async (user: { readonly channelUserId: string }, mobile: string) =>
      (await request(on.support, user, mobile)).body.code;
    expect(await codeOf(one, 'twelve')).toBe('mobile-malformed');
    expect(await codeOf(one, mobileOf(one.channelUserId))).toBe('mobile-same');
    expect(await codeOf({ channelUserId: 'nobody' }, one.free)).toBe('no-such-user');
    expect(await codeOf(one, mobileOf(two.channelUserId))).toBe('mobile-taken');
    const approvalId = waits(await request(on.support, one, one.free));
    expect((await withMobile(unique('user'), one.free)).code).toBe('0');
    expect((await on.admin.post(`/approvals/${approvalId}/approve`)).body).toMatchObject({
      status: 'FAILED',
      said: { code: 'mobile-taken' },
    });
    expect(await shownMobile(one)).toBe(masked(mobileOf(one.channelUserId)));
  });

  it('goes to one of two users whose changes are approved at the same time, and a user changes once', async () => {
    const [one, two] = [await subscriber(), await subscriber()];
    const third = mobileOf(unique('free'));
    const approvals = [
      waits(await request(on.support, one, one.free)),
      waits(await request(on.support, two, one.free)),
      waits(await request(on.support, one, third)),
    ];
    const done = await Promise.all(approvals.map((approvalId) => on.admin.post(`/approvals/${approvalId}/approve`)));
    // Serialized by the lock of the audit log. A lost race is a refusal, never an error.
    const results = done.map(({ status, body }) => [status, body.status, body.said?.code].join());
    expect(results.every((text) => /^200,(APPROVED|FAILED,mobile-(taken|changed))/.test(text))).toBe(true);
    const owners = await on.sql<{ owners: number }>(
      `select count(*)::integer as owners from channel_users where channel_user_id = any($1)`,
      [[one.channelUserId, two.channelUserId]],
    );
    expect(owners).toEqual([{ owners: 2 }]);
    const shown = [await shownMobile(one), await shownMobile(two)];
    expect(shown.filter((mobile) => mobile === masked(one.free)).length).toBeLessThanOrEqual(1);
    expect(results.filter((text) => text.includes('APPROVED')).length).toBeGreaterThanOrEqual(1);
  });

  it('is forgotten in a waiting request when the user is erased', async () => {
    const [ada, carl] = await twoAdmins();
    const user = await subscriber();
    const approvalId = waits(await request(ada, user, user.free));
    await on.channel.call('orders/unsubscribe', { orderNo: user.orderNo });
    const erased = waits(
      await ada.post('/users/erase', {
        appId: on.channel.credentials.appId,
        channelUserId: user.channelUserId,
        reason: 'asked',
      }),
    );
    expect((await carl.post(`/approvals/${erased}/approve`)).body).toMatchObject({ result: 'done' });
    const [row] = await on.sql<{ input: unknown }>(
      `select change -> 'input' as input from approvals where approval_id = $1`,
      [approvalId],
    );
    expect(row).toEqual({ input: null });
    expect((await carl.post(`/approvals/${approvalId}/approve`)).body).toMatchObject({ status: 'FAILED' });
  });
});

describe('the only admin who can sign in', () => {
  const alone = ofFile(() => operatorStage({ environment: 'production' }));

  it('may create one other admin, but make no other change that needs two', async () => {
    const ada = await newAdmin('ada', alone);
    await alone.sql(`update people set role = 'viewer' where role = 'admin' and name <> 'ada'`);
    const needs = async (reply: Promise<{ body: object }>) =>
      expect((await reply).body).toMatchObject({
        code: 'second-admin-needed',
        detail: expect.stringMatching(/^this change needs a second admin/),
        values: [],
      });
    await needs(ada.post('/people', { name: 'eve', role: 'finance' }));
    await needs(ada.post('/people/bob/reset'));
    const made = await Promise.all(['bea', 'cy', 'dan'].map((name) => ada.post('/people', { name, role: 'admin' })));
    const [bea, ...others] = made.filter(({ status }) => status === 200).map(({ body }) => body.person.name as string);
    expect(others).toEqual([]);
    const entries = await alone.sql(
      `select actor, detail from audit_log where action = 'person.create' and subject = $1`,
      [bea],
    );
    expect(entries).toEqual([{ actor: 'ada', detail: { role: 'admin', secondPerson: 'none: only admin' } }]);
    // A lost link can be replaced.
    expect((await ada.post(`/people/${bea}/reset`)).status).toBe(200);
    const alerts = `select subject, detail, seen from alerts where kind = 'no-second-admin'`;
    expect(await alone.sql(alerts)).toEqual([
      { subject: bea, detail: 'reset by ada, without the approval of a second admin', seen: 2 },
    ]);
    await alone.sql(`update people set password_hash = 'set' where name = $1`, [bea]);
    waits(await ada.post(`/people/${bea}/reset`));
  });

  it('does not decide with the other admin what an account of support that the first has made alone requests', async () => {
    const stage = await operatorStage({ environment: 'production', refundApprovalCent: 1_000 });
    onTestFinished(() => stage.close());
    const ada = await newAdmin('ada', stage);
    await stage.sql(`update people set role = 'viewer' where role = 'admin' and name <> 'ada'`);
    await ada.post('/people', { name: 'puppet', role: 'support' });
    await stage.sql(`update audit_log set at = at - interval '30 days' where subject = 'puppet'`);
    expect((await ada.post('/people', { name: 'bea', role: 'admin' })).status).toBe(200);
    const [puppet, bea] = [await consoleClient(stage.service, 'support', 'puppet'), await newAdmin('bea', stage)];
    const { approvalId } = (await refund(puppet, await stage.paidOrder())).body;
    expect((await bea.post(`/approvals/${approvalId}/approve`)).body.code).toBe('decides-with-own-account');
    await stage.sql(`update audit_log set at = at - interval '7 days 1 minute' where subject = 'bea'`);
    expect((await bea.post(`/approvals/${approvalId}/approve`)).body).toMatchObject({ status: 'APPROVED' });
  });

  it('does not take over the account of an admin who has signed in and was reset on the command line', async () => {
    const stage = await operatorStage({ environment: 'production' });
    onTestFinished(() => stage.close());
    const ada = await newAdmin('ada', stage);
    await newAdmin('carl', stage);
    await stage.sql(`update people set role = 'viewer' where role = 'admin' and name not in ('ada', 'carl')`);
    await resetPerson(stage.operator, { name: 'carl' });
    const refused = await ada.post('/people/carl/reset');
    expect([refused.status, refused.body.code]).toEqual([409, 'second-admin-needed']);
    expect(await stage.sql(`select from alerts where kind = 'no-second-admin'`)).toEqual([]);
  });
});

describe('an admin who disables or demotes the others', () => {
  it.each([
    ['disable', (ada: ConsoleClient) => ada.post('/people/carl/disable')],
    ['demote', (ada: ConsoleClient) => ada.put('/people/carl/role', { role: 'viewer' })],
  ])('%s: is not taken for the first admin', async (_, remove) => {
    const stage = await operatorStage({ environment: 'production' });
    onTestFinished(() => stage.close());
    const [ada] = [await newAdmin('ada', stage), await newAdmin('carl', stage)];
    await stage.sql(`update people set role = 'viewer' where role = 'admin' and name not in ('ada', 'carl')`);
    expect((await remove(ada)).status).toBe(200);
    expect((await ada.post('/people', { name: 'sock', role: 'admin' })).body.code).toBe('second-admin-needed');
  });

  it('gets no setup link of a disabled admin', async () => {
    const stage = await operatorStage({ environment: 'production' });
    onTestFinished(() => stage.close());
    const [ada] = [await newAdmin('ada', stage), await newAdmin('carl', stage)];
    await stage.sql(`update people set role = 'viewer' where role = 'admin' and name not in ('ada', 'carl')`);
    expect((await ada.post('/people/carl/disable')).status).toBe(200);
    expect((await ada.post('/people/carl/reset')).body.code).toBe('second-admin-needed');
  });
});

describe('the command line in production', () => {
  const fresh = ofFile(freshDatabase);
  const { run, json, dataDir } = commandLine(() => fresh, {
    SVC_ENVIRONMENT: 'production',
    PUBLIC_URL: 'https://pay.example',
    MASTER_KEY: randomBytes(32).toString('base64'),
  });

  it('needs a reason for changes that need two admins in the console, except for the first two admins', async () => {
    for (const name of ['ann', 'bo']) {
      expect(await run('operator', 'create', name, '--role', 'admin')).toMatchObject({ code: 0 });
    }
    const createFinance = ['operator', 'create', 'cy', '--role', 'finance'];
    for (const args of [
      createFinance,
      ['operator', 'create', 'dan', '--role', 'admin'],
      ['channel', 'create', '--name', 'Shop'],
    ]) {
      const refused = await run(...args);
      expect(refused).toMatchObject({ code: 1, stdout: '' });
      expect(refused.stderr).toContain('--without-approval');
    }
    expect(await run(...createFinance, '--without-approval', 'ticket 4711')).toMatchObject({ code: 0 });
    const { items } = await json('audit', 'list', '--subject', 'cy');
    expect(items).toMatchObject([
      { action: 'person.create', detail: { role: 'finance', withoutApproval: 'ticket 4711' } },
    ]);
    // The reason is outside the chain, so it can be deleted.
    expect(await fresh.database.query(`select detail from audit_log where subject = 'cy'`)).toEqual([
      { detail: { role: 'finance', textsHash: expect.any(String) } },
    ]);
  });

  it('needs a reason to repeat erasures', async () => {
    const { appId } = await json('channel', 'create', '--name', 'Shop', '--without-approval', 'first');
    const restoreUser = () =>
      fresh.database.query(
        `insert into channel_users (channel_id, channel_user_id, mobile, mobile_hash, bound_at)
         select channel_id, 'user-1', 'x', 'x', now() - interval '1 hour' from channels where app_id = $1`,
        [appId],
      );
    await restoreUser();
    await json('user', 'erase', appId, 'user-1', '--reason', 'by letter', '--without-approval', 'ticket 1');
    const list = `${dataDir}/erasures.json`;
    await writeFile(list, JSON.stringify(await json('user', 'erasures')));
    await restoreUser();
    const refused = await run('user', 'repeat-erasures', list);
    expect(refused.code).toBe(1);
    expect(refused.stdout).toContain('--without-approval');
    const repeated = await json('user', 'repeat-erasures', list, '--without-approval', 'restored');
    expect(repeated).toMatchObject({ erased: 1, refused: [] });
    const { items } = await json('audit', 'list', '--limit', '1');
    expect(items).toMatchObject([{ action: 'user.erase', detail: { withoutApproval: 'restored' } }]);
  });
});
