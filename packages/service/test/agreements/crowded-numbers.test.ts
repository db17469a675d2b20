import { pino } from 'pino';
import { beforeAll, describe, expect, it } from 'vitest';
import { createChannelRegistry } from '../../src/catalog/channels/channel-registry.js';
import { cancelAtInstitutions } from '../../src/engine/recovery/cancellations.js';
import type { Database } from '../../src/platform/db/database.js';
import { findBindingInForce } from '../../src/subscriptions/store/agreements/agreements-sql.js';
import { cancelUnusedAgreement } from '../../src/subscriptions/store/agreements/cancel-unused-sql.js';
import { findAgreementsOfSameNumbers } from '../../src/subscriptions/store/agreements/end-agreements-sql.js';
import {
  findAgreementOfAnotherChannel,
  lockNumberAndCheckShareable,
} from '../../src/subscriptions/store/agreements/same-number-sql.js';
import { boundRequest, stageOfFile } from '../orders/stage-of-file.js';
import { agreementOf, anotherChannel } from '../orders/support.js';
import type { ChannelClient } from '../support/channel-client.js';
import { costOf } from '../support/cost.js';
import { bindCard, sharedAgreement, sharedRequest, unique } from '../support/demo.js';

/** Checks that a request costs only a few look-ups, however many agreements exist for the same number or card. */
const CROWD = 400;
/** A look-up must fetch fewer rows than this from all tables. */
const FEW = 12;
const PLANS = ['auto', 'force_generic_plan'] as const;

const { on, channel } = stageOfFile();
let database: Database;
let other: ChannelClient;
beforeAll(async () => {
  ({ database } = on.service.fresh);
  // An analyze in the middle of a test would change the plans.
  await database.query('alter table agreements set (autovacuum_enabled = off)');
  await database.query('alter table orders set (autovacuum_enabled = off)');
  other = await anotherChannel(on.service);
});

const share = async (by: ChannelClient, sharedAgreementNo: string) => {
  const channelUserId = unique('user');
  const shared = sharedAgreement(by, channelUserId, { sharedAgreementNo });
  return by.call('orders/create', sharedRequest(by, { channelUserId, sharedAgreement: shared }));
};
const decline = () => {
  on.institution.onDebit = async () => ({ kind: 'declined', decline: 'final', reason: 'not yours' });
};
const idOf = async ({ credentials }: ChannelClient) => {
  const [row] = await database.query<{ id: number }>('select channel_id as id from channels where app_id = $1', [
    credentials.appId,
  ]);
  return row?.id ?? 0;
};
const numberOf = async (orderNo: string) => {
  const [row] = await database.query<{ hash: Buffer }>(
    'select g.institution_hash as hash from orders o join agreements g using (agreement_id) where o.order_no = $1',
    [orderNo],
  );
  return { paymentChannelCode: 'MOCKPAY', institutionHash: row?.hash ?? Buffer.alloc(0) };
};

let copies = 700_000_000_000_000;

/** Copies the order and its agreement, for the same user and agreement number. */
async function crowd(orderNo: string): Promise<void> {
  const [first, last] = [copies, copies + CROWD - 1];
  copies += CROWD;
  const copied = (alias: string, columns: string) =>
    `select (jsonb_populate_record(${alias}, jsonb_build_object(${columns}))).*`;
  const from = 'cross join generate_series($2::bigint, $3::bigint) n where o.order_no = $1';
  await database.query(
    `with shared as (
       insert into agreements ${copied('g', `'agreement_id', n, 'agreement_no', 'AG' || n, 'cancel_at', null`)}
       from orders o join agreements g using (agreement_id) ${from}
     ), named as (
       insert into external_orders ${copied('e', `'order_no', n, 'external_order_no', 'crowd-' || n`)}
       from orders o join external_orders e using (order_no) ${from}
     )
     insert into orders ${copied('o', `'order_no', n, 'external_order_no', 'crowd-' || n, 'agreement_id', n`)} from orders o ${from}`,
    [orderNo, first, last],
  );
}

/** Returns an agreement number on which another channel has many orders, all declined. */
async function triedInVain(): Promise<string> {
  const number = unique('N');
  decline();
  const { data } = await share(other, number);
  expect(data.orderStatus).toBe('TERMINATED');
  on.institution.reset();
  await crowd(data.orderNo);
  return number;
}

describe.each(PLANS)('with a crowd of agreements under one number, planned %s', (plan) => {
  const cost = async (read: Parameters<typeof costOf>[1]) => (await costOf(database, read, plan)).rows;

  it('ownership: declined orders of others are not read, and a channel may share the number', async () => {
    const number = await triedInVain();
    const { data } = await share(channel, number);
    const asked = await numberOf(data.orderNo);
    const id = await idOf(channel);
    expect((await costOf(database, (db) => lockNumberAndCheckShareable(db, id, asked), plan)).result).toBe(true);
    expect(await cost((db) => lockNumberAndCheckShareable(db, id, asked))).toBeLessThan(FEW);
  });

  it('ownership: one agreement in force of another channel is enough, also for the alert', async () => {
    const { data } = await share(channel, unique('N'));
    await crowd(data.orderNo);
    const asked = await numberOf(data.orderNo);
    const id = await idOf(other);
    expect((await costOf(database, (db) => lockNumberAndCheckShareable(db, id, asked), plan)).result).toBe(false);
    expect(await cost((db) => lockNumberAndCheckShareable(db, id, asked))).toBeLessThan(FEW);
    expect(await cost((db) => findAgreementOfAnotherChannel(db, id, asked))).toBeLessThan(FEW);
  });

  it("ownership: the channel's own agreements are not read", async () => {
    const { data } = await share(channel, unique('N'));
    await crowd(data.orderNo);
    const asked = await numberOf(data.orderNo);
    const id = await idOf(channel);
    expect(await cost((db) => lockNumberAndCheckShareable(db, id, asked))).toBeLessThan(FEW);
  });

  it('ending an agreement does not read those of other channels', async () => {
    const { data } = await share(channel, await triedInVain());
    const { agreement_id } = await agreementOf(database, data.orderNo);
    const ended = (
      await costOf(database, (db) => cancelUnusedAgreement(db, Number(agreement_id), Number(data.orderNo)), plan)
    ).rows;
    expect(ended).toBeLessThan(3 * FEW);
    expect(await agreementOf(database, data.orderNo)).toMatchObject({ status: 'CANCELED' });
  });

  it('an ending by the institution does not read agreements that had ended before', async () => {
    const { data } = await share(channel, unique('N'));
    await channel.call('orders/unsubscribe', { orderNo: data.orderNo });
    await crowd(data.orderNo);
    const { agreement_id } = await agreementOf(database, data.orderNo);
    expect(await cost((db) => findAgreementsOfSameNumbers(db, [Number(agreement_id)]))).toBeLessThan(FEW);
  });
});

it("0: an order is unsubscribed while another transaction locks another channel's agreement with the number", async () => {
  const number = await triedInVain();
  const { data } = await share(channel, number);
  await database.transaction(async (tx) => {
    await tx.query('select from agreements where channel_id = $1 for update', [await idOf(other)]);
    expect((await channel.call('orders/unsubscribe', { orderNo: data.orderNo })).code).toBe('0');
  });
  await on.cancelAgreements();
  expect(on.institution.cancellations.filter(({ institutionNo }) => institutionNo === number)).toHaveLength(1);
});

describe('a card that was bound repeatedly', () => {
  /** The number of cancellations in one run. */
  const TIMES = 32;
  const user = unique('user');
  const bindings: string[] = [];
  beforeAll(async () => {
    await on.cancelAgreements();
    for (let n = 0; n <= TIMES; n += 1) bindings.push(await bindCard(channel, user));
  });

  it('its first number leads to the last, which is found by the card', async () => {
    const id = await idOf(channel);
    const { result, rows } = await costOf(database, (db) => findBindingInForce(db, id, bindings[0] ?? ''));
    expect(String(result?.agreementId)).toBe(bindings.at(-1));
    expect(rows).toBeLessThan(FEW);
    const reply = await channel.call('orders/create', boundRequest(bindings[0] ?? ''));
    expect(reply.code).toBe('0');
  });

  it('its earlier numbers are canceled without following the chain of bindings', async () => {
    const deps = {
      gateways: { of: async () => on.institution },
      channels: createChannelRegistry(database, on.service.vault),
      log: pino({ level: 'silent' }),
    };
    const { pages } = await costOf(database, (db) => cancelAtInstitutions({ ...deps, database: db as Database }));
    // A cancellation reads about 35 pages, and more if the server's caches are cold. Following the chain of bindings
    // would add TIMES pages to each cancellation.
    expect(pages).toBeLessThan(TIMES * 60);
  });
});
