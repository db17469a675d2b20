import { beforeAll, describe, expect, it } from 'vitest';
import type { AuthorizationKey } from '../../src/catalog/channels/authorized-sql.js';
import { listAuthorizedPaymentChannels } from '../../src/catalog/payment-channels/list-payment-channels-sql.js';
import { listAuthorizedProducts } from '../../src/catalog/products/list-products-sql.js';
import type { Queryable } from '../../src/platform/db/database.js';
import type { ListPosition } from '../../src/platform/lists/list-page.js';
import {
  type AgreementFilter,
  type AgreementKey,
  listBoundAgreements,
} from '../../src/subscriptions/store/agreements/agreements-sql.js';
import {
  listOrderTexts,
  type OrderFilter,
  type OrderKey,
} from '../../src/subscriptions/store/orders/list-orders-sql.js';
import { ofFile } from '../orders/stage-of-file.js';
import { costOf } from '../support/cost.js';
import { freshDatabase } from '../support/database.js';

const ROWS = 20_000;
const RARE = 150;
const CHANNEL = 7;
const START = 1_767_225_600;

const fresh = ofFile(() => freshDatabase({ statementMs: 0 }));
beforeAll(async () => {
  const { database } = fresh;
  // Gives one user all orders, as in some channels. The oldest orders consist of one period.
  await database.query(
    `insert into orders (order_no, channel_id, external_order_no, channel_user_id, product_code, settlement_mode, status,
       period_type, period, total_cycles, amount_cent, created_at, cycle_no)
     select n, ${CHANNEL}, 'order-' || n, 'user', 'P', 'CHANNEL_COLLECT', 'ACTIVE', 'MONTH', 1,
       case when n <= ${RARE} then 1 else 12 end, 100, to_timestamp(${START} + n / 3), 1 from generate_series(1, ${ROWS}) n`,
  );
  await database.query(
    `insert into external_orders (external_order_no, channel_id, order_no, user_key, created_at, single, product_code)
     select external_order_no, channel_id, order_no, key_of(channel_user_id), created_at, total_cycles = 1, product_code
     from orders`,
  );
  // The oldest agreements belong to one card and one owner. All but the last of them were replaced. Half of the other
  // agreements have no agreement number.
  await database.query(
    `insert into agreements (agreement_id, channel_id, channel_user_id, payment_channel_code, source, status, agreement_no,
       card_hash, certificate_hash, card_tail, details)
     select n, ${CHANNEL}, 'user', 'M', 'SELF_BINDING', case when n < ${RARE} then 'REPLACED' else 'BIND_SUCCESS' end,
       case when n <= ${RARE} or n % 2 = 0 then 'AG' || n end,
       case when n <= ${RARE} then 'card'::bytea else int8send(n) end,
       case when n <= ${RARE} then 'owner'::bytea else int8send(n) end, '1234', '{}' from generate_series(1, ${ROWS}) n`,
  );
  await database.query(
    `insert into agreements (agreement_id, channel_id, channel_user_id, payment_channel_code, source, status, agreement_no,
       card_hash, certificate_hash, card_tail, details)
     select ${ROWS} + n, ${CHANNEL}, 'trying', 'M', 'SELF_BINDING', 'BIND_ING', case when n <= ${RARE} then 'AG' || n end,
       'tried', 'trier', '1234', '{}' from generate_series(1, ${ROWS}) n`,
  );
  await database.query(
    `insert into channels (channel_id, app_id, name, status, version, data_key, app_secret, aes_key, callback_secret,
       rate_per_second, rate_burst)
     overriding system value values (${CHANNEL}, 'test_x', 'x', 'ACTIVE', 1, '', '', '', '', 1, 1)`,
  );
  await database.query(
    `insert into products (product_code, product_name, settlement_modes, period_type, period, total_cycles, amount_cent,
       retry_delays)
     select 'P' || n, 'x', '{SVC_DEDUCT}', 'DAY', 1, 1, 1, '{}' from generate_series(1, ${ROWS}) n`,
  );
  await database.query(
    `insert into payment_channels (code, display_name, gateway, supported_banks)
     select 'M' || n, 'x', 'sandbox', '{*}' from generate_series(1, ${ROWS}) n`,
  );
  for (const [table, code] of [
    ['channel_products', 'product_code'],
    ['channel_payment_channels', 'code'],
  ]) {
    const from = table === 'channel_products' ? 'products' : 'payment_channels';
    await database.query(
      `insert into ${table} (channel_id, ${code}, authorized_at)
       select ${CHANNEL}, ${code}, to_timestamp(${START} + row_number() over () / 3) from ${from}`,
    );
  }
  await database.query('vacuum analyze');
}, 300_000);

const FIRST = { after: undefined, offset: 0 };

async function expectLittle(read: (db: Queryable) => Promise<unknown[]>): Promise<void> {
  for (const plan of ['auto', 'force_generic_plan'] as const) {
    const { result, rows, pages } = await costOf(fresh.database, read, plan);
    expect(result).toHaveLength(101);
    expect(rows).toBeLessThan(1_000);
    expect(pages).toBeLessThan(4_000);
  }
}

describe('a page of a long list reads few rows beyond those it shows', () => {
  const micros = (n: number) => (START + Math.floor(n / 3)) * 1_000_000;

  const orders = (filter: Omit<OrderFilter, 'channelUserId'>, place: ListPosition<OrderKey>) =>
    expectLittle((db) => listOrderTexts(db, CHANNEL, { channelUserId: 'user', ...filter }, 0, 101, place));
  it.each<[string, Omit<OrderFilter, 'channelUserId'>]>([
    ['all', { cycles: undefined }],
    ['several periods', { cycles: 'MULTIPLE' }],
    ['one period, which few orders have', { cycles: 'SINGLE' }],
  ])('orders/list: %s', (_what, filter) => orders(filter, FIRST));
  it('orders/list: a distant page by cursor', () =>
    orders({ cycles: undefined }, { after: [micros(1_000), 1_000], offset: 0 }));

  const agreements = (filter: Partial<AgreementFilter>, place: ListPosition<AgreementKey>) =>
    expectLittle((db) => {
      const all = { channelUserId: undefined, cardHash: undefined, certificateHash: undefined, ...filter };
      return listBoundAgreements(db, CHANNEL, all, 101, place);
    });
  it.each<[string, Partial<AgreementFilter>]>([
    ['of a user', { channelUserId: 'user' }],
    ['of a user with many unfinished bindings', { channelUserId: 'trying' }],
    ['of a card', { cardHash: Buffer.from('card') }],
    ['of a card with many unfinished bindings', { cardHash: Buffer.from('tried') }],
    ['of a person', { certificateHash: Buffer.from('owner') }],
    ['of a person with many unfinished bindings', { certificateHash: Buffer.from('trier') }],
    ['of a user and a card', { channelUserId: 'user', cardHash: Buffer.from('card') }],
  ])('agreements/user-data: %s', (_what, filter) => agreements(filter, FIRST));
  it('agreements/user-data: a distant page by cursor', () =>
    agreements({ channelUserId: 'user' }, { after: [1_000], offset: 0 }));

  it.each<[string, typeof listAuthorizedProducts | typeof listAuthorizedPaymentChannels]>([
    ['products/list', listAuthorizedProducts],
    ['payment-channels/list', listAuthorizedPaymentChannels],
  ])('%s', async (_what, list) => {
    const page = (place: ListPosition<AuthorizationKey>) => expectLittle((db) => list(db, CHANNEL, 101, place));
    await page(FIRST);
    await page({ after: [micros(1_000), 'A'], offset: 0 });
  });
});
