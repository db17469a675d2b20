import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { parseMigration, readMigrations } from '../../src/platform/schema/migration-file.js';
import { violationsOf } from './expand-rule.js';

/**
 * The number of the previous release's last migration. Later migrations are applied while nodes of that release run.
 */
const LAST_RELEASED = 7;

/** The first 16 hex digits of each file's SHA-256. Add a line for a new file; never change a line. */
const LANDED: Readonly<Record<string, string>> = {
  '000001_ground.sql': 'ed00a36e90925044',
  '000002_subscriptions.sql': 'd876c26f688089e7',
  '000003_renewals.sql': '1a6c4de863bfa6f0',
  '000004_webhooks.sql': '8daff2df34dc5fb6',
  '000005_billing_lanes.sql': 'a6b1c1696ddb1338',
  '000006_redemption.sql': '5235e47309448957',
  '000007_without_debit.sql': 'b260caa124de99e5',
  '000008_agreement_end.sql': '4fa85f3452a6dcd4',
  '000009_agreement_numbers.sql': '231cf62fa9142b3d',
  '000010_described_answers.sql': '7efad4d8e4be509d',
  '000011_lists.sql': '7534512db2ebc8f3',
  '000013_encryption.sql': '06bab368e9c98693',
  '000014_alert_messages.sql': 'b2e50ce1db2cd7e6',
  '000016_seen.sql': '3bd41f4c14091a1d',
  '000017_without_older_nodes.sql': '7a857dc50e45c4a1',
  '000018_console.sql': 'a90d765f052f043e',
  '000019_seller.sql': 'a815d885e62e8fff',
  '000020_first_requests_of_a_day.sql': 'd9417d9df9c3aec3',
  '000021_put_aside_at_once.sql': 'e08f07d9ec8a16c1',
  '000022_inlined_key.sql': '45df32944db2977f',
  '000023_database_identity.sql': '0918184102935df6',
  '000024_seen_from_outside.sql': '8622a7449d812749',
  '000025_pending_items.sql': '6f384d455e8cdfbc',
  '000026_currency.sql': '16bed4cb0ab709f9',
  '000027_one_journey.sql': '8349341b581b4032',
  '000028_audit_chain.sql': '82988484491085b0',
  '000029_second_person.sql': 'be64353b9184d70d',
  '000030_bound_keys.sql': 'c4a0b779b3e4dec0',
  '000031_traces.sql': '132322c0d811b6ed',
  '000032_retention.sql': 'd3d02d5c4bfa2443',
  '000033_least_privilege.sql': '00bfbaa5456b6cc3',
  '000034_cells.sql': '7deb5b134bb8ea82',
};

const violations = (text: string) => violationsOf(parseMigration('000099_sample.sql', text));

it('a migration is never edited, because databases have already applied it', async () => {
  const folder = new URL('../../migrations/', import.meta.url);
  const names = (await readdir(folder)).toSorted();
  const found = names.map(async (name) => {
    const hash = createHash('sha256').update(await readFile(new URL(name, folder)));
    return [name, hash.digest('hex').slice(0, 16)];
  });
  expect(Object.fromEntries(await Promise.all(found))).toEqual(LANDED);
});

describe('migrations after the last release', () => {
  it('only add or are contracts, and hold no table lock for long', async () => {
    const migrations = (await readMigrations()).filter(({ version }) => version > LAST_RELEASED);
    expect(migrations.length).toBeGreaterThan(0);
    const found = migrations.flatMap((one) => violationsOf(one).map((what) => `${one.name}: ${what}`));
    expect(found).toEqual([]);
  });

  it.each([
    ['drop table orders', /takes away/],
    ['alter table orders drop column note', /takes away/],
    ['\n-- Afterwards:\ndrop index concurrently if exists orders_due_collect', /takes away/],
    ['alter table orders rename column note to text', /renames/],
    ['alter table orders alter column note type integer', /changes a type/],
    ['alter table orders alter column note set not null', /older nodes do not write/],
    [
      'alter table orders add column a int not null default 1, add column note text not null',
      /older nodes leave empty/,
    ],
    ['alter table orders add constraint c check (note is not null)', /reads a whole table/],
    ['-- Contract: x.\nalter table orders alter column note set not null', /reads a whole table/],
    ['alter table orders add column note uuid default gen_random_uuid()', /rewrites a whole table/],
    ['create index on orders (note)', /locks out writers/],
    ['create unique index concurrently one_each on orders (note)', /cannot be in a transaction/],
    ['\n-- Afterwards:\ncreate unique index concurrently one_each on orders (note)', /older nodes may break/],
    ["update orders set note = ''", /many rows/],
  ])('refused: %s', (text, why) => {
    expect(violations(text).join('\n')).toMatch(why);
  });
});
