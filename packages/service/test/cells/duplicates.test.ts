import { expect, it } from 'vitest';
import { findDuplicates } from '../../src/operator/cells/duplicates.js';
import { createKeyedHasher } from '../../src/platform/secrets/keyed-hasher.js';
import { createKey, openVault } from '../../src/platform/secrets/vault.js';
import { ofFile } from '../orders/stage-of-file.js';
import { anotherChannel, stage } from '../orders/support.js';
import { collectRequest, sharedAgreement, sharedRequest, unique } from '../support/demo.js';
import { becomeCell } from './support.js';

/** Two services with the same look-up keys, as cells have. */
const vault = openVault([createKey()]);
const two = ofFile(async () => {
  const [first, second] = await Promise.all([stage({ vault }), stage({ vault })]);
  const from = first.service.fresh.database;
  await createKeyedHasher(from, vault, 'institution numbers').hash('x');
  const [key] = await from.query<{ wrapped: string }>(
    `select wrapped from look_up_keys where purpose = 'institution numbers'`,
  );
  await second.service.fresh.database.query(`insert into look_up_keys values ('institution numbers', $1)`, [
    key?.wrapped,
  ]);
  await becomeCell(second.service.fresh.database, 1);
  return { stages: [first, second], close: () => Promise.all([first.close(), second.close()]) };
});

it('finds numbers that several cells have', async () => {
  const [both, number] = [unique('both'), unique('agreement')];
  for (const { service } of two.stages) {
    const channel = await anotherChannel(service);
    const user = unique('user');
    for (const request of [
      collectRequest(channel, { externalOrderNo: both }),
      collectRequest(channel),
      sharedRequest(channel, {
        channelUserId: user,
        sharedAgreement: sharedAgreement(channel, user, { sharedAgreementNo: number }),
      }),
      sharedRequest(channel),
    ]) {
      expect((await channel.call('orders/create', request)).code).toBe('0');
    }
  }
  const cells = two.stages.map(({ service }, cell) => ({ cell, database: service.fresh.database }));
  expect(await findDuplicates(cells, 100)).toEqual([
    { kind: 'external order number', name: both, cells: [0, 1] },
    { kind: 'institution agreement number', name: expect.stringMatching(/^MOCKPAY AG2/), cells: [0, 1] },
  ]);
  expect(await findDuplicates(cells, 1)).toHaveLength(1);
  expect(await findDuplicates(cells.slice(0, 1), 100)).toEqual([]);
});
