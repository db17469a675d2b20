import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { formatTime } from '@perennial/wire';
import { agreementStatuses, deliveryStatuses, orderStatuses, paymentStatuses } from '@perennial/wire/enums';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FilledDemo, fillDemo } from '../../src/demo/fill-demo.js';
import { recordAudit } from '../../src/operator/audit.js';
import { verifyAudit } from '../../src/operator/audit-chain.js';
import type { Changed, OperatorWithGateways } from '../../src/operator/operator.js';
import { type Transaction, wrapQuery } from '../../src/platform/db/database.js';
import { openVault } from '../../src/platform/secrets/vault.js';
import { perennial } from '../cli/perennial.js';
import { type ConsoleClient, consoleClient } from '../console/support.js';
import { brokenSums } from '../histories/invariants.js';
import type { FreshDatabase } from '../support/database.js';
import { type TestService, testService } from '../support/service.js';
import { dump } from './support.js';

/** Each scene occurs twice. */
const ORDERS = 104;
/** Noon in Asia/Shanghai. */
const END = Date.UTC(2026, 10, 16, 4, 0, 0);
const MASTER_KEY = randomBytes(32);

const VAULT = openVault([MASTER_KEY]);

let service: TestService;
let fresh: FreshDatabase;
let filled: Changed<FilledDemo>;

const operator = (more: Partial<OperatorWithGateways> = {}): OperatorWithGateways => ({
  ...service.operator,
  vault: VAULT,
  clock: service.clock,
  gateways: {
    of: async () => {
      throw new Error('no institution is asked');
    },
  },
  ...more,
});

beforeAll(async () => {
  service = await testService({ vault: VAULT });
  service.clock.set(END);
  fresh = service.fresh;
  filled = await fillDemo(operator(), { orders: ORDERS });
}, 120_000);
afterAll(() => service.close());

const rows = <Row>(text: string) => fresh.database.query<Row>(text);
const distinct = async (expression: string, table: string) => {
  const found = await rows<{ value: string }>(`select distinct ${expression} as value from ${table}`);
  return found.map(({ value }) => value).toSorted();
};
/** What is wrong: nothing, if all is well. */
const none = async (text: string) => expect(await rows(text)).toEqual([]);

describe('after demo fill there is', () => {
  it('every status of orders', async () => {
    expect(filled).toMatchObject({ changed: true, orders: ORDERS });
    expect(await distinct('status', 'orders')).toEqual(orderStatuses.toSorted());
  });

  it('every status of periods that is stored', async () => {
    const stored = paymentStatuses.filter((status) => status !== 'WAIT');
    expect(await distinct('status', 'payments')).toEqual(stored.toSorted());
  });

  it('every status of agreements, and both ways to come by one', async () => {
    expect(await distinct('status', 'agreements')).toEqual(agreementStatuses.toSorted());
    expect(await distinct('source', 'agreements')).toEqual(['SELF_BINDING', 'SHARED_FROM_CHANNEL']);
  });

  it('every status of refunds, whole and in part', async () => {
    expect(await distinct('status', 'refunds')).toEqual(['FAIL', 'STARTED', 'SUCCESS']);
    const whole = await distinct(
      'r.amount_cent = p.amount_cent',
      'refunds r join payments p using (order_no, cycle_no)',
    );
    expect(whole).toEqual([false, true]);
  });

  it('every status of benefits, and claims of each kind, some of which wait', async () => {
    expect(await distinct('status', 'benefits')).toEqual(['CLAIMED', 'EXPIRED', 'ISSUED', 'REVOKED']);
    expect(await distinct('fulfilment', 'claims')).toEqual(['GENERATED', 'POOL', 'SUPPLIER']);
    expect(await distinct('status', 'claims')).toEqual(['FULFILLED', 'PENDING']);
  });

  it('every status of events, and pushes with every kind of answer', async () => {
    const status = `case when exists (select from undelivered_events u where u.event_no = e.event_no)
        then (select max(u.reason) from undelivered_events u where u.event_no = e.event_no)
      when exists (select from due_events d where d.event_no = e.event_no) then 'PENDING' else 'DELIVERED' end`;
    expect(await distinct(status, 'events e')).toEqual(deliveryStatuses.toSorted());
    expect(await distinct('outcome::text', 'delivery_attempts')).toEqual(
      expect.arrayContaining(['ACCEPTED', 'REFUSED', 'TIMEOUT']),
    );
  });

  it('alerts that are open, acknowledged and resolved, some with an owner and comments', async () => {
    const status = `case when resolved_at is not null then 'resolved' when acknowledged_at is not null then 'acknowledged'
      else 'open' end`;
    expect(await distinct(status, 'alerts')).toEqual(['acknowledged', 'open', 'resolved']);
    expect((await distinct('kind', 'alerts')).length).toBeGreaterThanOrEqual(6);
    expect((await rows('select from alert_comments')).length).toBeGreaterThan(0);
    // Nobody is called about them, and no log has a line about them.
    await none('select kind, subject from alerts where logged < seen or to_tell is not null');
  });

  it('an end by each of the four who can end an order', async () => {
    expect(await distinct('unsubscribe_source', `orders where status = 'UNSUBSCRIBED'`)).toEqual([
      'AGREEMENT_INVALID',
      'CHANNEL',
      'OPERATIONS',
      'USER',
    ]);
  });

  it('money that was taken by the first, the second and the third try', async () => {
    expect(await distinct('try_no', `debit_attempts where status = 'SUCCESS'`)).toEqual(
      expect.arrayContaining([1, 2, 3]),
    );
  });

  it('reconciliations with differences of every kind, open and closed', async () => {
    expect(await distinct('kind', 'reconciliation_differences')).toEqual([
      'AMOUNT',
      'DUPLICATE',
      'MISSING_HERE',
      'MISSING_THERE',
      'STATE',
    ]);
    expect(await distinct('closed_at is null', 'reconciliation_differences')).toEqual([false, true]);
  });

  it('something of everything else that the console shows', async () => {
    for (const table of [
      'people',
      'order_notes',
      'approvals',
      'bulk_runs',
      'bulk_items',
      'request_log',
      'hourly_figures',
    ]) {
      expect((await rows(`select from ${table}`)).length, table).toBeGreaterThan(0);
    }
    expect(await distinct('status', 'approvals')).toEqual(['APPROVED', 'WAITING']);
    expect((await distinct('actor', 'audit_log')).length).toBeGreaterThanOrEqual(5);
    expect(await distinct('count(*) > 0 and count(*) < 40', `pool_codes where given_to is null`)).toEqual([true]);
  });
});

describe('what demo fill makes', () => {
  it('adds up, order by order', async () => {
    const orders = await rows<{ orderNo: number }>('select order_no as "orderNo" from orders');
    const broken = await brokenSums(
      fresh.database,
      orders.map(({ orderNo }) => orderNo),
    );
    expect(broken).toEqual([]);
  });

  it('has an event for each end of an order and each end of a period', async () => {
    await none(`select order_no from orders o where status in ('UNSUBSCRIBED', 'COMPLETED', 'TERMINATED') and not exists (
      select from events e where e.order_no = o.order_no and e.data::json ->> 'orderStatus' = o.status)`);
    await none(`select order_no, cycle_no from payments p where status in ('SUCCESS', 'BILLED', 'FAIL', 'FAIL_RETRY') and not exists (
      select from events e where e.order_no = p.order_no and e.cycle_no = p.cycle_no
        and e.data::json ->> 'paymentStatus' = p.status)`);
  });

  it('lies in the past, and leaves nothing to do that is overdue', async () => {
    const end = `to_timestamp(${END / 1000})`;
    for (const [table, time] of [
      ['orders', 'created_at'],
      ['payments', 'paid_at'],
      ['debit_attempts', 'started_at'],
      ['events', 'recorded_at'],
      ['delivery_attempts', 'at'],
      ['agreements', 'created_at'],
      ['agreements', 'changed_at'],
      ['channel_users', 'bound_at'],
      ['alerts', 'last_seen_at'],
      ['audit_log', 'at'],
      ['undelivered_events', 'since'],
      ['refunds', 'started_at'],
      ['claims', 'claimed_at'],
      ['channels', 'created_at'],
      ['products', 'created_at'],
      ['delivery_pauses', 'paused_at'],
      ['order_notes', 'at'],
      ['alert_comments', 'at'],
      ['approvals', 'requested_at'],
      ['bulk_runs', 'requested_at'],
      ['bulk_runs', 'finished_at'],
      ['reconciliations', 'run_at'],
      ['request_log', 'at'],
    ]) {
      await none(`select '${table}.${time}' as what, ${time} from ${table} where ${time} > ${end}`);
    }
    await none(`select order_no from orders where next_due_at <= ${end}`);
    await none(`select order_no from debit_attempts where ask_at <= ${end}`);
    await none(`select agreement_id from agreements where cancel_at <= ${end}`);
    // All but what is held back.
    await none(`select event_no from due_events d where next_at <= ${end} and not exists (
      select from delivery_pauses p where p.channel_id = d.channel_id)`);
  });

  it('has events in the order in which things happened', async () => {
    await none(`select order_no from (
        select order_no, recorded_at < lag(recorded_at) over (partition by order_no order by event_no) as is_wrong from events) x
      where is_wrong`);
    await none(`select event_no from delivery_attempts t where at < recorded_at`);
  });

  it('has an audit log in the order of time, whose chain is whole, with where people were', async () => {
    await none(`select audit_id from (select audit_id, at < lag(at) over (order by chain_no) as is_wrong from audit_log) x
      where is_wrong`);
    expect(await distinct('address is null', `audit_log where action = 'order.note'`)).toEqual([false]);
    expect(await verifyAudit(operator())).toMatchObject({ brokenAt: null });
  });

  it('has nobody who could sign in', async () => {
    await none(
      'select name from people where password_hash is not null or setup_hash is not null or single_sign_on is not null',
    );
  });

  it('leaves nothing of its own clock behind', async () => {
    await none(`select nspname from pg_namespace where nspname = 'perennial_story'`);
  });
});

describe('in the console', () => {
  const SOMETHING = expect.arrayContaining([expect.anything()]);
  let admin: ConsoleClient;
  beforeAll(async () => {
    admin = await consoleClient(service, 'admin');
  });

  it('the overview has figures of the month, and alerts on top', async () => {
    const { status, body } = await admin.get('/overview?range=30d');
    expect(status).toBe(200);
    const zeros = Object.entries(body.totals).filter(([, figure]) => figure === 0);
    expect(zeros).toEqual([]);
    expect(body).toMatchObject({ channels: SOMETHING, alerts: SOMETHING });
    // Of the moment up to which it was filled.
    expect(body.asOf).toBe(formatTime(service.clock.now()));
    expect(Object.entries(body.now).filter(([, figure]) => figure === 0)).toEqual([]);
  });

  it.each([
    ['/orders', { orders: SOMETHING }],
    ['/orders?status=INITIALIZING', { orders: SOMETHING }],
    ['/payments/failed?status=FAIL_RETRY', { payments: SOMETHING }],
    ['/payments/failed?status=FAIL', { payments: SOMETHING }],
    [
      '/payments/failed/summary',
      { byReason: SOMETHING, byInstitution: SOMETHING, byTry: SOMETHING, recoveredByTry: SOMETHING },
    ],
    ['/events/channels', { channels: SOMETHING }],
    ['/events?appId=test_fitlife&status=GIVE_UP', { events: SOMETHING }],
    ['/events?appId=test_daily_read&status=NO_CALLBACK', { events: SOMETHING }],
    ['/alerts', { alerts: SOMETHING, kinds: SOMETHING }],
    ['/approvals?status=WAITING', { approvals: SOMETHING }],
    ['/bulk', { runs: SOMETHING }],
    ['/reconciliations', { reconciliations: SOMETHING }],
    ['/differences', { differences: SOMETHING }],
    ['/settlement', { months: SOMETHING }],
    ['/channels/test_sunny_video/requests', { requests: SOMETHING }],
    ['/channels/test_fitlife/requests?code=401002', { requests: SOMETHING }],
    ['/benefits', { benefits: SOMETHING }],
    ['/products', { products: SOMETHING }],
    ['/payment-channels', { paymentChannels: SOMETHING }],
    ['/people', { people: SOMETHING }],
    ['/audit?actor=chen', { entries: SOMETHING }],
  ])('%s has something to show', async (path, shown) => {
    const { status, body } = await admin.get(path);
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body).toMatchObject(shown);
  });

  it('the page of every second order can be read', async () => {
    const orders = await rows<{ orderNo: string }>(
      'select order_no::text as "orderNo" from orders where order_no % 2 = 0',
    );
    for (const { orderNo } of orders) expect((await admin.get(`/orders/${orderNo}`)).status, orderNo).toBe(200);
  });
});

describe('demo fill', () => {
  it('changes nothing the second time, and says that it is there', async () => {
    const dataDir = await mkdtemp(path.join(os.tmpdir(), 'perennial-demo-'));
    const settings = { DATABASE_URL: fresh.url, DATA_DIR: dataDir, MASTER_KEY: MASTER_KEY.toString('base64') };
    await perennial(['channel', 'list'], settings);
    const before = await dump(fresh.database);
    const { code, stdout } = await perennial(['demo', 'fill'], settings);
    await rm(dataDir, { recursive: true });
    expect(stdout).toMatch(/^it is there already, in the channels test_sunny_video, /);
    expect(code).toBe(0);
    expect(await dump(fresh.database)).toEqual(before);
  });

  it('keeps nobody from the audit log meanwhile, and leaves nothing when it fails in the middle', async () => {
    const before = await dump(fresh.database);
    let left = 1_000;
    let written = 0;
    const cut = async <T>(run: () => Promise<T>, { text }: { readonly text: string }) => {
      if (text.includes('insert into audit_log')) written += 1;
      left -= 1;
      if (left > 0) return run();
      expect(written).toBeGreaterThan(10);
      const entry = { actor: 'ann', action: 'x', subject: 'x', detail: {} };
      await fresh.database
        .transaction(
          async (tx) => {
            await recordAudit(tx, entry);
            throw new Error('written, and taken back');
          },
          { statementMs: 5_000 },
        )
        .catch((error: Error) => expect(error.message).toBe('written, and taken back'));
      throw new Error('the line is cut');
    };
    const database = {
      ...fresh.database,
      transaction: <T>(work: (tx: Transaction) => Promise<T>) =>
        fresh.database.transaction((tx) => work({ ...tx, query: wrapQuery(tx, cut) })),
    };
    const filling = fillDemo(operator({ database }), { orders: 60, again: true });
    await expect(filling).rejects.toThrow(/the line is cut/);
    expect(await dump(fresh.database)).toEqual(before);
  });

  it('is refused in production, and for fewer orders than it needs', async () => {
    const before = await dump(fresh.database);
    await expect(fillDemo(operator({ environment: 'production' }))).rejects.toThrow(/only a sandbox/);
    await expect(fillDemo(operator(), { orders: 59, again: true })).rejects.toThrow(/from 60 to 5000/);
    expect(await dump(fresh.database)).toEqual(before);
  });

  // The last one: it doubles what there is.
  it('makes another set beside it, which is the same for the same seed', async () => {
    const counts = () =>
      rows<{ count: number }>(`select 'orders' as what, status, count(*)::integer from orders group by 2
        union all select 'payments', status, count(*)::integer from payments group by 2
        union all select 'attempts', reason, count(*)::integer from debit_attempts group by 2
        union all select 'answers', answer, count(*)::integer from delivery_attempts group by 2
        order by 1, 2`);
    const before = await counts();
    const again = await fillDemo(operator(), { orders: ORDERS, again: true });
    expect(again).toEqual({ ...filled, appIds: filled.appIds.map((appId) => `${appId}_2`) });
    expect(await counts()).toEqual(before.map((row) => ({ ...row, count: 2 * row.count })));
  });
});
