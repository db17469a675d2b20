import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { BASELINE, parseMigration, readMigrations } from '../../src/platform/schema/migration-file.js';
import { violationsOf } from './expand-rule.js';

/**
 * The number of the previous release's last migration. Later migrations are applied while nodes of that release run.
 */
const LAST_RELEASED = BASELINE;

/** The first 16 hex digits of each file's SHA-256. Add a line for a new file; never change a line. */
const LANDED: Readonly<Record<string, string>> = {
  '000100_baseline.sql': 'cfc8b808941283a9',
  '000103_health.sql': '2aa6b8757b420432',
  '000101_payment_lists_and_mentions.sql': '381b143e448f3403',
  '000104_channel_fees.sql': 'c60b9ef822fb3c6c',
  '000105_redeem.sql': 'bddb61fca697154b',
  '000107_refund_references.sql': 'fe3a8fc8b3d20531',
  '000108_pushes_in_health.sql': 'ff46c49e1bb08e94',
  '000115_receiver_health.sql': '3af49238ba04a54e',
  '000102_codes_and_numbers.sql': '28e92462840413c3',
  '000111_ended_setups_and_texts.sql': 'cbfdd553dfa7ac62',
  '000112_meaning_of_requests.sql': '0aef1c50353cc69f',
  '000116_refunds_keep_benefits.sql': '53428dddf16b37f5',
  '000117_refunds_made_outside.sql': '6e07ae69177829b8',
  '000114_list_indexes.sql': '06f646575ab65b41',
  '000119_refunds_within_payment.sql': '9032c7a9c73679b2',
};

const violations = (text: string) => violationsOf(parseMigration('000999_sample.sql', text));

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
    const found = migrations.flatMap((one) => violationsOf(one).map((what) => `${one.name}: ${what}`));
    // Nodes of the previous version treat a missing text as erased, so they also accept null.
    expect(found).toEqual([
      '000111_ended_setups_and_texts.sql: takes away: alter table audit_texts alter column texts drop not null',
    ]);
  });

  it.each([
    ['drop table orders', /takes away/],
    ['alter table orders drop column note', /takes away/],
    ['\n-- Afterwards:\ndrop index concurrently if exists orders_to_bill', /takes away/],
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
