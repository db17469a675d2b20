import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Queryable } from '../../src/platform/db/database.js';
import { type FreshDatabase, freshDatabase } from '../support/database.js';
import { packageRoot, until } from '../support/processes.js';

/**
 * The books of `npm run prove -- ha`, on orders that two nodes of the shipped program have made over HTTP, with the institution and
 * the receiver of the proof. Each fault is planted into that database, and rolled back.
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
  /** The pushes of each event, by its id. */
  readonly received: Map<string, string[]>;
  readonly aesKey: string;
}

const linux = process.platform === 'linux';
/** Several processes are started. The bound is for what hangs. */
const LIMIT_MS = 180_000;

// biome-ignore lint/suspicious/noExplicitAny: modules of the proof have no types
let stand: any;
let booksOf: (database: Queryable, known: Known) => Promise<Finding[]>;
let fresh: FreshDatabase;
let known: Known;
/** Orders by what has happened to them. */
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
    // Under its key, as callers do: a connection may break between two requests.
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
  /** Takes an event from the table and from the receiver: it was never written. Gives back how many there were. */
  unwrite(where: string): Promise<void>;
  /** Changes an event in the table and its pushes: it was written so. */
  rewrite(where: string, from: string, to: string): Promise<void>;
  /** Writes an event again, which is pushed too. */
  writeAgain(where: string): Promise<void>;
}

/** Plants a fault, and gives back what the books find then. */
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

/** The books find these, each at least once, and nothing else. */
function expectOnly(found: readonly string[], expected: readonly RegExp[]): void {
  for (const one of expected) expect(found).toContainEqual(expect.stringMatching(one));
  expect(found.filter((text) => !expected.some((one) => one.test(text)))).toEqual([]);
}

const paymentEvent = (orderNo: string, cycleNo: number, status: string) =>
  `order_no = ${orderNo} and cycle_no = ${cycleNo} and cycle_to is null and data::json ->> 'paymentStatus' = '${status}'`;
const orderEvent = (orderNo: string, status: string) =>
  `order_no = ${orderNo} and event_type = 'order.status.changed' and data::json ->> 'orderStatus' = '${status}'`;

describe.runIf(linux)('the books', () => {
  it('agree when nothing was lost, doubled or wrong', async () => {
    expect(await findingsAfter(() => undefined)).toEqual([]);
    const statuses = await fresh.database.query<{ status: string }>(
      'select distinct status from orders order by status',
    );
    expect(statuses.map(({ status }) => status)).toEqual(['ACTIVE', 'TERMINATED', 'UNSUBSCRIBED']);
  });

  describe('find ten planted faults:', () => {
    it('an event that was not written', async () => {
      const found = await findingsAfter(({ unwrite }) => unwrite(paymentEvent(orders.billed, 2, 'BILLED')));
      expectOnly(found, [/^lost: period \d+\/2 is BILLED, its events that say BILLED: 0 instead of 1$/]);
    });

    it('an event that was written twice', async () => {
      const found = await findingsAfter(({ writeAgain }) => writeAgain(paymentEvent(orders.billed, 2, 'BILLED')));
      expectOnly(found, [/^doubled: period \d+\/2 is BILLED, its events that say BILLED: 2 instead of 1$/]);
    });

    it('a payload with a wrong amount', async () => {
      const found = await findingsAfter(({ rewrite }) =>
        rewrite(paymentEvent(orders.renewed, 2, 'SUCCESS'), '"amountCent":100', '"amountCent":101'),
      );
      expectOnly(found, [/^wrong: event \d+ of order \d+: amountCent is 101, but must be 100$/]);
    });

    it('a debit without an attempt', async () => {
      const found = await findingsAfter(({ tx }) =>
        tx.query(`delete from debit_attempts where order_no = ${orders.renewed} and cycle_no = 2`),
      );
      expectOnly(found, [
        /^lost: debit \d+ is at the institution, and has no attempt here$/,
        /^lost: period \d+\/2 is SUCCESS, its debits that paid: 0 instead of 1$/,
      ]);
    });

    it('an attempt that was settled twice', async () => {
      const found = await findingsAfter(async ({ tx, writeAgain }) => {
        await writeAgain(paymentEvent(orders.renewed, 2, 'SUCCESS'));
        await tx.query(`update orders set paid_cycles = paid_cycles + 1, paid_amount_cent = paid_amount_cent + 100
          where order_no = ${orders.renewed}`);
      });
      expectOnly(found, [
        /^doubled: period \d+\/2 is SUCCESS, its events that say SUCCESS: 2 instead of 1$/,
        /^wrong: order \d+: paidCycles is 3, by its periods 2$/,
        /^wrong: order \d+: paidAmountCent is 300, by its periods 200$/,
      ]);
    });

    it('a refund that was lost', async () => {
      const found = await findingsAfter(async ({ tx, unwrite }) => {
        await unwrite(paymentEvent(orders.refunded, 1, 'REFUND_PART'));
        await tx.query(`delete from refunds where order_no = ${orders.refunded}`);
        await tx.query(`update payments set status = 'SUCCESS', refund_amount_cent = 0, refund_at = null
          where order_no = ${orders.refunded}`);
        await tx.query(`update orders set refund_amount_cent = 0, latest_payment_status = 'SUCCESS'
          where order_no = ${orders.refunded}`);
      });
      expectOnly(found, [
        /^lost: refund refund-\d+ was answered, and is not here$/,
        /^lost: refund R\d+ is at the institution and not here$/,
      ]);
    });

    it('a claim that was lost', async () => {
      const found = await findingsAfter(async ({ tx }) => {
        await tx.query(`delete from claims where order_no = ${orders.billed}`);
        await tx.query(`update benefits set status = 'ISSUED', claim_no = null, claimed_at = null
          where order_no = ${orders.billed} and cycle_no = 1`);
      });
      expectOnly(found, [/^lost: claim \d+\/1\/1 was answered, and the benefit is ISSUED$/]);
    });

    it('an acknowledgement before the commit', async () => {
      const found = await findingsAfter(async ({ tx, unwrite }) => {
        await unwrite(`order_no = ${orders.plain}`);
        for (const table of ['orders', 'external_orders', 'payments', 'benefits']) {
          await tx.query(`delete from ${table} where order_no = ${orders.plain}`);
        }
      });
      expectOnly(found, [/^lost: create B \S+ was answered, and its order is not here$/]);
    });

    it('a wrong status', async () => {
      const found = await findingsAfter(({ tx }) =>
        tx.query(`update orders set status = 'TERMINATED', next_due_at = null where order_no = ${orders.plain}`),
      );
      expectOnly(found, [
        /^wrong: create B \S+, the order was answered ACTIVE, and is TERMINATED$/,
        /^lost: order \d+ is TERMINATED, its events that say TERMINATED: 0 instead of 1$/,
        /^doubled: order \d+ is TERMINATED, its events that say ACTIVE: 1 instead of 0$/,
      ]);
    });

    it('a total that is off by one', async () => {
      const found = await findingsAfter(({ tx }) =>
        tx.query(`update orders set paid_amount_cent = paid_amount_cent + 1 where order_no = ${orders.renewed}`),
      );
      expectOnly(found, [/^wrong: order \d+: paidAmountCent is 201, by its periods 200$/]);
    });
  });

  describe('find what was acknowledged and is not so:', () => {
    it('an unsubscribe', async () => {
      const found = await findingsAfter(({ tx }) =>
        tx.query(`update orders set status = 'ACTIVE' where order_no = ${orders.ended}`),
      );
      expect(found).toContainEqual(
        expect.stringMatching(/^lost: unsubscribe \d+ was answered, and the order goes on$/),
      );
    });

    it('the time of an order', async () => {
      const found = await findingsAfter(({ tx }) =>
        tx.query(`update orders set success_at = success_at + interval '1 minute' where order_no = ${orders.plain}`),
      );
      expectOnly(found, [
        /^wrong: the answer to create B \S+: orderSuccessTime is ".*", but must be ".*"$/,
        /^wrong: event \d+ of order \d+: orderSuccessTime is ".*", but must be ".*"$/,
      ]);
    });

    it('the status of a refund', async () => {
      const found = await findingsAfter(({ tx }) =>
        tx.query(`update refunds set status = 'FAIL' where order_no = ${orders.refunded}`),
      );
      expect(found).toContainEqual(expect.stringMatching(/^wrong: refund \S+ was answered SUCCESS, and is FAIL$/));
    });

    it('an order that nobody has asked for', async () => {
      const found = await findingsAfter((planted) => {
        const { writes } = planted.known;
        writes.splice(
          writes.findIndex(({ answer }) => answer.data.orderNo === orders.plain),
          1,
        );
      });
      expectOnly(found, [/^doubled: nobody has asked for ha-\d+$/]);
    });

    it('a claim that nobody has made', async () => {
      const found = await findingsAfter((planted) => {
        const { writes } = planted.known;
        writes.splice(
          writes.findIndex(({ kind }) => kind === 'claim'),
          1,
        );
      });
      expectOnly(found, [/^doubled: nobody has claimed benefit \d+\/1\/1$/]);
    });
  });

  describe('find where the institution differs:', () => {
    it('an attempt that is still open, though the institution took the money', async () => {
      const found = await findingsAfter(({ tx }) =>
        tx.query(`update debit_attempts set status = 'STARTED' where order_no = ${orders.pending}`),
      );
      expect(found).toContainEqual(
        expect.stringMatching(
          /^lost: debit \d+ is STARTED here, and SUCCESS at the institution, which took 100 cents$/,
        ),
      );
    });

    it('a payment without money', async () => {
      const found = await findingsAfter((planted) => {
        planted.known.ledger.debits.splice(0);
      });
      expect(found).toContainEqual(
        expect.stringMatching(/is SUCCESS here, and unknown at the institution, which took 0/),
      );
    });

    it('another amount', async () => {
      const found = await findingsAfter((planted) => {
        for (const debit of planted.known.ledger.debits.filter(({ debitedCent }) => debitedCent > 0).slice(0, 1)) {
          debit.debitedCent = 101;
        }
      });
      expectOnly(found, [
        /^wrong: debit \d+ is SUCCESS here, and SUCCESS at the institution: 100 cents here, 101 there$/,
      ]);
    });

    it('two debits for one period', async () => {
      const found = await findingsAfter(async (planted) => {
        await planted.tx.query(
          `insert into debit_attempts (order_no, cycle_no, try_no, channel_id, agreement_id, payment_channel_code, amount_cent,
             status, institution_ref, started_at)
           select order_no, cycle_no, 2, channel_id, agreement_id, payment_channel_code, amount_cent, status, institution_ref,
             started_at from debit_attempts where order_no = ${orders.renewed} and cycle_no = 2`,
        );
        const { debits } = planted.known.ledger;
        const [first] = debits.filter(({ attemptNo }) => attemptNo === `${orders.renewed}000201`);
        if (first) debits.push({ ...first, attemptNo: `${orders.renewed}000202` });
      });
      expectOnly(found, [
        /^doubled: period \d+\/2 was debited twice$/,
        /^doubled: period \d+\/2 is SUCCESS, its debits that paid: 2 instead of 1$/,
      ]);
    });

    it('a notice that was never accepted, and an agreement that goes on here', async () => {
      const found = await findingsAfter(async (planted) => {
        planted.known.ledger.owedNotices.push('N-1');
        await planted.tx.query(`update agreements set status = 'BIND_SUCCESS' where agreement_id =
          (select agreement_id from orders where order_no = ${orders.withdrawn})`);
      });
      expectOnly(found, [
        /^lost: notice N-1 of the institution was never accepted$/,
        /^lost: agreement ha-\d+-0021 of order \d+ is BIND_SUCCESS here, the order UNSUBSCRIBED, and it has ended/,
      ]);
    });

    it('an order that was ended without a reason', async () => {
      const found = await findingsAfter((planted) => {
        planted.known.ledger.canceledAgreements.splice(0);
      });
      expect(found).toContainEqual(
        expect.stringMatching(/^wrong: order \d+ is UNSUBSCRIBED by AGREEMENT_INVALID, without a reason$/),
      );
    });
  });

  describe('find what is wrong with events and pushes:', () => {
    it('an order event that was not written', async () => {
      const found = await findingsAfter(({ unwrite }) => unwrite(orderEvent(orders.ended, 'UNSUBSCRIBED')));
      expectOnly(found, [/^lost: order \d+ is UNSUBSCRIBED, its events that say UNSUBSCRIBED: 0 instead of 1$/]);
    });

    it('a total in the payload of an order event', async () => {
      const found = await findingsAfter(({ rewrite }) =>
        rewrite(orderEvent(orders.ended, 'UNSUBSCRIBED'), '"totalPaidCycles":1', '"totalPaidCycles":2'),
      );
      expectOnly(found, [/^wrong: event \d+ of order \d+: totalPaidCycles is 2, but must be 1$/]);
    });

    it('voided periods that were not announced', async () => {
      const found = await findingsAfter(async ({ tx, known: { received } }) => {
        const [row] = await tx.query<{ no: string }>(
          `update events set cycle_to = cycle_to - 1 where order_no = ${orders.ended} and cycle_to is not null
           returning event_no::text as no`,
        );
        received.delete(`${row?.no}-6`);
      });
      expectOnly(found, [/^lost: period \d+\/6 is not started, its events that say CANCELED: 0 instead of 1$/]);
    });

    it('a wrong sum of refunds', async () => {
      const found = await findingsAfter(({ rewrite }) =>
        rewrite(paymentEvent(orders.paidBack, 1, 'REFUND_FULL'), '"refundAmountCent":100', '"refundAmountCent":60'),
      );
      expectOnly(found, [/^wrong: event \d+ of order \d+: refundAmountCent is 60, but must be 100$/]);
    });

    it('a push that differs from its event', async () => {
      const found = await findingsAfter((planted) => {
        const { received } = planted.known;
        const [[id, [text = '']] = ['', []]] = [...received].filter(([, [one]]) => one?.includes('"cycleNo":2'));
        received.set(id, [text, text.replace('"cycleNo":2', '"cycleNo":3').replace('"retryNo":0', '"retryNo":1')]);
      });
      expectOnly(found, [/^wrong: the push of event \S+ of order \d+: cycleNo is 3, but must be 2$/]);
    });

    it('a push with the mobile of somebody else', async () => {
      const found = await findingsAfter((planted) => {
        const { received } = planted.known;
        const isOf = (text: string | undefined, orderNo: string) =>
          text?.includes(`"orderNo":"${orderNo}"`) && text.includes('mobileEncrypted":"');
        const sealed = (orderNo: string) => {
          const [, [text = ''] = []] = [...received].find(([, [one]]) => isOf(one, orderNo)) ?? [];
          return /"mobileEncrypted":"([^"]+)"/.exec(text)?.[1] ?? '';
        };
        const [[id, [text = '']] = ['', []]] = [...received].filter(([, [one]]) => isOf(one, orders.renewed));
        received.set(id, [text.replace(sealed(orders.renewed), sealed(orders.pending))]);
      });
      expectOnly(found, [/^wrong: the push of event \S+ of order \d+: the mobile is not the user's$/]);
    });

    it('an event that never came, and one that is not here', async () => {
      const found = await findingsAfter((planted) => {
        const { received } = planted.known;
        const [[id, pushes] = ['', []]] = received;
        received.delete(id);
        received.set('999999', pushes);
      });
      expectOnly(found, [
        /^lost: event \S+ of order \d+ never came$/,
        /^lost: event 999999 of order \d+ came, and is not here$/,
      ]);
    });
  });

  it('find a benefit that is missing, or is there twice', async () => {
    const missing = await findingsAfter(({ tx }) =>
      tx.query(`delete from benefits where order_no = ${orders.renewed} and cycle_no = 2`),
    );
    expectOnly(missing, [/^lost: period \d+\/2 is SUCCESS, its benefits: 0 instead of 1$/]);
    const twice = await findingsAfter(({ tx }) =>
      tx.query(`insert into benefits select (jsonb_populate_record(b, '{"position": 9}')).* from benefits b
        where order_no = ${orders.renewed} and cycle_no = 2`),
    );
    expectOnly(twice, [/^doubled: period \d+\/2 is SUCCESS, its benefits: 2 instead of 1$/]);
  });
});
