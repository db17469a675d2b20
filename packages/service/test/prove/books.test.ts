import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Queryable } from '../../src/platform/db/database.js';
import { type FreshDatabase, freshDatabase } from '../support/database.js';
import { packageRoot, until } from '../support/processes.js';

/**
 * Tests the comparison of database, ledger and receiver that `npm run prove -- ha` makes (its "books"). Two nodes of
 * the shipped program create the orders. Each test plants a fault in the database and rolls it back.
 */
const load = (file: string) => import(pathToFileURL(path.join(packageRoot, 'prove', 'ha', file)).href);

interface Finding {
  readonly kind: 'lost' | 'doubled' | 'wrong';
  readonly text: string;
}

interface Write {
  readonly kind: string;
  readonly about: string;
  // biome-ignore lint/suspicious/noExplicitAny: as the service answered it
  answer: any;
}

interface Known {
  readonly writes: Write[];
  readonly ledger: {
    readonly debits: { readonly attemptNo: string; status: string; debitedCent: number }[];
    readonly refunds: { readonly refundNo: string; amountCent: number }[];
    readonly canceledAgreements: string[];
    readonly owedNotices: string[];
  };
  /** Pushes by event id. */
  readonly received: Map<string, string[]>;
  readonly aesKey: string;
}

const linux = process.platform === 'linux';
/** Long enough to start several processes. */
const LIMIT_MS = 180_000;

// biome-ignore lint/suspicious/noExplicitAny: modules of the proof have no types
let stand: any;
let booksOf: (database: Queryable, known: Known) => Promise<Finding[]>;
let fresh: FreshDatabase;
let known: Known;
/** The order numbers, by what happened to the order. */
let orders: Record<
  'billed' | 'plain' | 'ended' | 'refunded' | 'paidBack' | 'failed' | 'pending' | 'withdrawn' | 'renewed',
  string
>;

beforeAll(async () => {
  if (!linux) return;
  const [{ openStand }, { settled }, { call, isFinal }, requests, books] = await Promise.all(
    ['stand.mjs', 'checks.mjs', 'call.mjs', 'requests.mjs', 'books.mjs'].map(load),
  );
  booksOf = books.booksOf;
  fresh = await freshDatabase();
  const interrupted = new AbortController().signal;
  stand = await openStand({ isAlone: true, databaseUrl: fresh.url, interrupted, say: () => undefined });
  const { channel, nodes } = stand;
  const writes: Write[] = [];
  // biome-ignore lint/suspicious/noExplicitAny: whatever the service answers
  async function send(request: any): Promise<any> {
    const node = nodes[writes.length % nodes.length];
    const write = { ...request, node };
    // Retries with the same idempotency key, because a connection may break between two requests.
    write.answer = await until('an answer', async () => {
      const answer = await call(node, channel, write);
      return isFinal(answer) && answer;
    });
    expect(write.answer).toMatchObject({ code: '0' });
    writes.push(write);
    return write.answer.data;
  }
  const collected = () => send(requests.collectedCreate(channel));
  const deducted = (tail = 'good') => send(requests.deductedCreate(channel, tail));

  const billed = await collected();
  const refunded = await deducted();
  const paidBack = await deducted();
  const renewed = await deducted();
  const all = {
    billed,
    refunded,
    paidBack,
    renewed,
    plain: await collected(),
    ended: await collected(),
    failed: await deducted('0002'),
    pending: await deducted('0004'),
    withdrawn: await deducted('0021'),
  };
  orders = Object.fromEntries(Object.entries(all).map(([name, { orderNo }]) => [name, orderNo])) as typeof orders;
  await send(requests.claim(billed));
  await send(requests.unsubscribe(orders.ended));
  await send(requests.refund(`${orders.refunded}0001`, 40));
  await send(requests.refund(`${orders.paidBack}0001`, 40));
  await send(requests.refund(`${orders.paidBack}0001`, 60));
  await fresh.database.query('update orders set next_due_at = now() where order_no = any($1::bigint[])', [
    [orders.billed, orders.renewed],
  ]);
  expect(await settled(stand)).toEqual([]);
  known = { writes, ledger: await stand.institution.ledger(), received: stand.receiver.events, aesKey: channel.aesKey };
}, LIMIT_MS);

afterAll(async () => {
  await stand?.close();
  await fresh?.close();
});

class RolledBack extends Error {}

interface Planted {
  readonly tx: Queryable;
  readonly known: Known;
  /** Deletes events from the table and from the receiver, as if they had never been written. */
  unwrite(where: string): Promise<void>;
  /** Changes events in the table and in their pushes. */
  rewrite(where: string, from: string, to: string): Promise<void>;
  /** Duplicates an event and its pushes. */
  writeAgain(where: string): Promise<void>;
}

/** Plants a fault, returns the findings, and rolls back. */
async function findingsAfter(plant: (planted: Planted) => Promise<unknown> | unknown): Promise<string[]> {
  const copy: Known = { ...structuredClone({ ...known, writes: [] }), writes: known.writes.map((one) => ({ ...one })) };
  let found: Finding[] | undefined;
  const work = fresh.database.transaction(async (tx) => {
    const select = (where: string) =>
      tx.query<{ no: string }>(`select event_no::text as no from events where ${where}`);
    const pushesOf = (no: string) => [...copy.received.keys()].filter((id) => id === no || id.startsWith(`${no}-`));
    await plant({
      tx,
      known: copy,
      async unwrite(where) {
        const rows = await select(where);
        expect(rows).not.toHaveLength(0);
        for (const id of rows.flatMap(({ no }) => pushesOf(no))) copy.received.delete(id);
        await tx.query(`delete from events where ${where}`);
      },
      async rewrite(where, from, to) {
        const rows = await select(where);
        expect(rows).not.toHaveLength(0);
        for (const id of rows.flatMap(({ no }) => pushesOf(no))) {
          copy.received.set(id, copy.received.get(id)?.map((text) => text.replace(from, to)) ?? []);
        }
        await tx.query(`update events set data = replace(data, '${from}', '${to}') where ${where}`);
      },
      async writeAgain(where) {
        const [before] = await select(where);
        const [after] = await tx.query<{ no: string }>(
          `insert into events (channel_id, order_no, event_type, cycle_no, cycle_to, occurred_at, data)
           select channel_id, order_no, event_type, cycle_no, cycle_to, occurred_at, data from events where ${where}
           returning event_no::text as no`,
        );
        const pushes = copy.received.get(before?.no ?? '') ?? [];
        expect(pushes).not.toHaveLength(0);
        copy.received.set(
          after?.no ?? '',
          pushes.map((text) => text.replace(`"eventId":"${before?.no}"`, `"eventId":"${after?.no}"`)),
        );
      },
    });
    found = await booksOf(tx, copy);
    throw new RolledBack();
  });
  await expect(work).rejects.toThrow(RolledBack);
  return (found ?? []).map(({ kind, text }) => `${kind}: ${text}`);
}

const paymentEvent = (orderNo: string, cycleNo: number, status: string) =>
  `order_no = ${orderNo} and cycle_no = ${cycleNo} and cycle_to is null and data::json ->> 'paymentStatus' = '${status}'`;

const isOf = (text: string | undefined, orderNo: string) =>
  text?.includes(`"orderNo":"${orderNo}"`) && text.includes('mobileEncrypted":"');

/** Faults with their expected findings. Other findings fail the test, unless `andMore` is set. */
const FAULTS: readonly [
  what: string,
  plant: Parameters<typeof findingsAfter>[0],
  found: RegExp[],
  andMore?: 'and more',
][] = [
  [
    'a missing event',
    ({ unwrite }) => unwrite(paymentEvent(orders.billed, 2, 'BILLED')),
    [/^lost: period \d+\/2 is BILLED, its events that say BILLED: 0 instead of 1$/],
  ],
  [
    'a duplicate event',
    ({ writeAgain }) => writeAgain(paymentEvent(orders.billed, 2, 'BILLED')),
    [/^doubled: period \d+\/2 is BILLED, its events that say BILLED: 2 instead of 1$/],
  ],
  [
    'a payload with a wrong amount',
    ({ rewrite }) => rewrite(paymentEvent(orders.renewed, 2, 'SUCCESS'), '"amountCent":100', '"amountCent":101'),
    [/^wrong: event \d+ of order \d+: amountCent is 101, but must be 100$/],
  ],
  [
    'a debit without an attempt',
    ({ tx }) => tx.query(`delete from debit_attempts where order_no = ${orders.renewed} and cycle_no = 2`),
    [
      /^lost: debit \d+ is at the institution, and has no attempt here$/,
      /^lost: period \d+\/2 is SUCCESS, its debits that paid: 0 instead of 1$/,
    ],
  ],
  [
    'an attempt settled twice',
    async ({ tx, writeAgain }) => {
      await writeAgain(paymentEvent(orders.renewed, 2, 'SUCCESS'));
      await tx.query(`update orders set paid_cycles = paid_cycles + 1, paid_amount_cent = paid_amount_cent + 100
          where order_no = ${orders.renewed}`);
    },
    [
      /^doubled: period \d+\/2 is SUCCESS, its events that say SUCCESS: 2 instead of 1$/,
      /^wrong: order \d+: paidCycles is 3, by its periods 2$/,
      /^wrong: order \d+: paidAmountCent is 300, by its periods 200$/,
    ],
  ],
  [
    'a lost refund',
    async ({ tx, unwrite }) => {
      await unwrite(paymentEvent(orders.refunded, 1, 'REFUND_PART'));
      await tx.query(`delete from refunds where order_no = ${orders.refunded}`);
      await tx.query(`update payments set status = 'SUCCESS', refund_amount_cent = 0, refund_at = null
          where order_no = ${orders.refunded}`);
      await tx.query(`update orders set refund_amount_cent = 0, latest_payment_status = 'SUCCESS'
          where order_no = ${orders.refunded}`);
    },
    [
      /^lost: refund refund-\d+ was answered, and is not here$/,
      /^lost: refund R\d+ is at the institution and not here$/,
    ],
  ],
  [
    'a lost claim',
    async ({ tx }) => {
      await tx.query(`delete from claims where order_no = ${orders.billed}`);
      await tx.query(`update benefits set status = 'ISSUED', claim_no = null, claimed_at = null
          where order_no = ${orders.billed} and cycle_no = 1`);
    },
    [/^lost: claim \d+\/1\/1 was answered, and the benefit is ISSUED$/],
  ],
  [
    'an acknowledgement before the commit',
    async ({ tx, unwrite }) => {
      await unwrite(`order_no = ${orders.plain}`);
      for (const table of ['orders', 'external_orders', 'payments', 'benefits']) {
        await tx.query(`delete from ${table} where order_no = ${orders.plain}`);
      }
    },
    [/^lost: create B \S+ was answered, and its order is not here$/],
  ],
  [
    'a wrong status',
    ({ tx }) =>
      tx.query(`update orders set status = 'TERMINATED', next_due_at = null where order_no = ${orders.plain}`),
    [
      /^wrong: create B \S+, the order was answered ACTIVE, and is TERMINATED$/,
      /^lost: order \d+ is TERMINATED, its events that say TERMINATED: 0 instead of 1$/,
      /^doubled: order \d+ is TERMINATED, its events that say ACTIVE: 1 instead of 0$/,
    ],
  ],
  [
    'a total that is off by one',
    ({ tx }) =>
      tx.query(`update orders set paid_amount_cent = paid_amount_cent + 1 where order_no = ${orders.renewed}`),
    [/^wrong: order \d+: paidAmountCent is 201, by its periods 200$/],
  ],
  [
    'an acknowledged unsubscribe of an order that is still active',
    ({ tx }) => tx.query(`update orders set status = 'ACTIVE' where order_no = ${orders.ended}`),
    [/^lost: unsubscribe \d+ was answered, and the order goes on$/],
    'and more',
  ],
  [
    'an order that was never requested',
    ({ known: { writes } }) =>
      writes.splice(
        writes.findIndex(({ answer }) => answer.data.orderNo === orders.plain),
        1,
      ),
    [/^doubled: nobody has asked for ha-\d+$/],
  ],
  [
    'an open attempt that the institution has debited',
    ({ tx }) => tx.query(`update debit_attempts set status = 'STARTED' where order_no = ${orders.pending}`),
    [/^lost: debit \d+ is STARTED here, and SUCCESS at the institution, which took 100 cents$/],
    'and more',
  ],
  [
    'a payment that the institution does not know',
    ({ known: { ledger } }) => ledger.debits.splice(0),
    [/is SUCCESS here, and unknown at the institution, which took 0/],
    'and more',
  ],
  [
    'two debits for one period',
    async ({ tx, known: { ledger } }) => {
      await tx.query(
        `insert into debit_attempts (order_no, cycle_no, try_no, channel_id, agreement_id, payment_channel_code, amount_cent,
             status, institution_ref, started_at)
           select order_no, cycle_no, 2, channel_id, agreement_id, payment_channel_code, amount_cent, status, institution_ref,
             started_at from debit_attempts where order_no = ${orders.renewed} and cycle_no = 2`,
      );
      const [first] = ledger.debits.filter(({ attemptNo }) => attemptNo === `${orders.renewed}000201`);
      if (first) ledger.debits.push({ ...first, attemptNo: `${orders.renewed}000202` });
    },
    [
      /^doubled: period \d+\/2 was debited twice$/,
      /^doubled: period \d+\/2 is SUCCESS, its debits that paid: 2 instead of 1$/,
    ],
  ],
  [
    'a notice that was never accepted, and its agreement, which is still bound',
    async ({ tx, known: { ledger } }) => {
      ledger.owedNotices.push('N-1');
      await tx.query(`update agreements set status = 'BIND_SUCCESS' where agreement_id =
          (select agreement_id from orders where order_no = ${orders.withdrawn})`);
    },
    [
      /^lost: notice N-1 of the institution was never accepted$/,
      /^lost: agreement ha-\d+-0021 of order \d+ is BIND_SUCCESS here, the order UNSUBSCRIBED, and it has ended/,
    ],
  ],
  [
    'a push with the mobile of another user',
    ({ known: { received } }) => {
      const pushOf = (orderNo: string) => [...received].find(([, [one]]) => isOf(one, orderNo));
      const sealed = (text = '') => /"mobileEncrypted":"([^"]+)"/.exec(text)?.[1] ?? '';
      const [id = '', [text = ''] = []] = pushOf(orders.renewed) ?? [];
      received.set(id, [text.replace(sealed(text), sealed(pushOf(orders.pending)?.[1][0]))]);
    },
    [/^wrong: the push of event \S+ of order \d+: the mobile is not the user's$/],
  ],
  [
    'an event without a push, and a push without an event',
    ({ known: { received } }) => {
      const [[id, pushes] = ['', []]] = received;
      received.delete(id);
      received.set('999999', pushes);
    },
    [/^lost: event \S+ of order \d+ never came$/, /^lost: event 999999 of order \d+ came, and is not here$/],
  ],
  [
    'a missing benefit',
    ({ tx }) => tx.query(`delete from benefits where order_no = ${orders.renewed} and cycle_no = 2`),
    [/^lost: period \d+\/2 is SUCCESS, its benefits: 0 instead of 1$/],
  ],
];

describe.runIf(linux)('the books', () => {
  it('find nothing without a fault', async () => {
    expect(await findingsAfter(() => undefined)).toEqual([]);
    const statuses = await fresh.database.query<{ status: string }>(
      'select distinct status from orders order by status',
    );
    expect(statuses.map(({ status }) => status)).toEqual(['ACTIVE', 'TERMINATED', 'UNSUBSCRIBED']);
  });

  it.each(FAULTS)('find %s', async (_what, plant, expected, andMore) => {
    const found = await findingsAfter(plant);
    for (const one of expected) expect(found).toContainEqual(expect.stringMatching(one));
    if (!andMore) expect(found.filter((text) => !expected.some((one) => one.test(text)))).toEqual([]);
  });
});
