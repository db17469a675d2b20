import { expect, it } from 'vitest';
import { stepwiseMigration } from '../support/stepwise-migration.js';

it('cards that were bound more than once before the rule: the latest binding stands for the others, with their orders', async () => {
  const { database, migrateBefore, close } = await stepwiseMigration();
  try {
    await migrateBefore('000017');
    // Of one card: 3 was bound last, though 4 was begun later; 5 is another card, 6 another user, 7 another payment channel,
    // 8 another channel, 9 shared, 10 ended. 11 and 12 are one card to which the institution gave one number twice. Of 13 to 16
    // the orders have ended in one way or another.
    await database.query(
      `insert into agreements (agreement_id, channel_id, channel_user_id, payment_channel_code, source, status, agreement_no,
         institution_no, institution_hash, card_hash, certificate_hash, card_tail, details, changed_at)
       select id, channel, usr, code, source, status, 'AG' || id, 'sealed', sha256(number::bytea), sha256(card::bytea), '\\x00',
         '8888', 'sealed', now() - ago * interval '1 h'
       from (values
         (1, 20, 'u', 'PAY', 'SELF_BINDING', 'BIND_SUCCESS', 'n1', 'c', 9),
         (2, 20, 'u', 'PAY', 'SELF_BINDING', 'BIND_SUCCESS', 'n2', 'c', 8),
         (3, 20, 'u', 'PAY', 'SELF_BINDING', 'BIND_SUCCESS', 'n3', 'c', 1),
         (4, 20, 'u', 'PAY', 'SELF_BINDING', 'BIND_SUCCESS', 'n4', 'c', 5),
         (5, 20, 'u', 'PAY', 'SELF_BINDING', 'BIND_SUCCESS', 'n5', 'd', 9),
         (6, 20, 'v', 'PAY', 'SELF_BINDING', 'BIND_SUCCESS', 'n6', 'c', 9),
         (7, 20, 'u', 'BANK', 'SELF_BINDING', 'BIND_SUCCESS', 'n7', 'c', 9),
         (8, 21, 'u', 'PAY', 'SELF_BINDING', 'BIND_SUCCESS', 'n8', 'c', 9),
         (9, 20, 'u', 'PAY', 'SHARED_FROM_CHANNEL', 'BIND_SUCCESS', 'n9', 'c', 0),
         (10, 20, 'u', 'PAY', 'SELF_BINDING', 'CANCELED', 'n10', 'c', 0),
         (11, 20, 'w', 'PAY', 'SELF_BINDING', 'BIND_SUCCESS', 'n11', 'c', 9),
         (12, 20, 'w', 'PAY', 'SELF_BINDING', 'BIND_SUCCESS', 'n11', 'c', 8),
         (13, 20, 'x', 'PAY', 'SHARED_FROM_CHANNEL', 'BIND_SUCCESS', 'n13', 'c', 0),
         (14, 20, 'x', 'PAY', 'SHARED_FROM_CHANNEL', 'BIND_SUCCESS', 'n14', 'c', 0),
         (15, 20, 'x', 'PAY', 'SHARED_FROM_CHANNEL', 'BIND_SUCCESS', 'n15', 'c', 0),
         (16, 20, 'x', 'PAY', 'SELF_BINDING', 'BIND_SUCCESS', 'n16', 'c', 0)
       ) as a(id, channel, usr, code, source, status, number, card, ago)`,
    );
    await database.query(
      `insert into orders (order_no, channel_id, external_order_no, channel_user_id, product_code, settlement_mode, status,
         period_type, period, total_cycles, amount_cent, created_at, cycle_no, agreement_id)
       select no, 20, no::text, 'u', 'P', 'SVC_DEDUCT', status, 'MONTH', 1, 12, 1990, now(), 1, agreement
       from (values (101, 'ACTIVE', 1), (102, 'INITIALIZING', 2), (103, 'ACTIVE', 3), (104, 'UNSUBSCRIBED', 4),
         (105, 'ACTIVE', 5), (109, 'ACTIVE', 9), (111, 'ACTIVE', 11), (113, 'TERMINATED', 13), (114, 'UNSUBSCRIBED', 14),
         (115, 'COMPLETED', 15), (116, 'TERMINATED', 16)) as o(no, status, agreement)`,
    );
    // Not while nodes may run that bind a card twice.
    expect(await migrateBefore('000018')).toMatchObject({ applied: [] });
    expect(await migrateBefore('000018', { contract: true })).toMatchObject({
      applied: ['000017_without_older_nodes.sql'],
    });
    expect(
      await database.query(
        `select agreement_id::integer as id, status, line_id::integer as line, cancel_at is not null as canceled
         from agreements order by 1`,
      ),
    ).toEqual([
      { id: 1, status: 'REPLACED', line: 1, canceled: true },
      { id: 2, status: 'REPLACED', line: 1, canceled: true },
      { id: 3, status: 'BIND_SUCCESS', line: 1, canceled: false },
      { id: 4, status: 'REPLACED', line: 1, canceled: true },
      ...[5, 6, 7, 8, 9].map((id) => ({ id, status: 'BIND_SUCCESS', line: null, canceled: false })),
      { id: 10, status: 'CANCELED', line: null, canceled: false },
      { id: 11, status: 'REPLACED', line: 11, canceled: false },
      { id: 12, status: 'BIND_SUCCESS', line: 11, canceled: false },
      ...[13, 14, 15, 16].map((id) => ({ id, status: 'BIND_SUCCESS', line: null, canceled: false })),
    ]);
    expect(
      await database.query('select order_no::integer as no, agreement_id::integer as id from orders order by 1'),
    ).toEqual([
      { no: 101, id: 3 },
      { no: 102, id: 3 },
      { no: 103, id: 3 },
      { no: 104, id: 4 },
      { no: 105, id: 5 },
      { no: 109, id: 9 },
      { no: 111, id: 12 },
      ...[113, 114, 115, 116].map((no) => ({ no, id: no - 100 })),
    ]);
    // A number that was shared for an order that has ended without running to its end is nobody's because of it.
    expect(
      await database.query(`select agreement_id::integer as id from agreements where number_released order by 1`),
    ).toEqual([{ id: 13 }, { id: 14 }]);
    // From now on the database itself refuses a second one.
    await expect(
      database.query(`update agreements set status = 'BIND_SUCCESS' where agreement_id = 10`),
    ).rejects.toThrow(/agreements_one_per_card/);
  } finally {
    await close();
  }
});
