import { describe, expect, it } from 'vitest';
import { parseMigration, readMigrations } from '../../src/platform/schema/migration-file.js';
import { violationsOf } from './expand-rule.js';

/** The last one of the release in use. Those after it are applied while its nodes run. */
const LAST_RELEASED = 7;

const violations = (text: string) => violationsOf(parseMigration('000099_sample.sql', text));

describe('migrations after the last release', () => {
  it('only add, or are contracts, and lock no table for longer than a moment', async () => {
    const migrations = (await readMigrations()).filter(({ version }) => version > LAST_RELEASED);
    expect(migrations.length).toBeGreaterThan(0);
    const found = migrations.flatMap((one) => violationsOf(one).map((what) => `${one.name}: ${what}`));
    expect(found).toEqual([]);
  });

  it.each([
    ['alter table orders add column note text'],
    ['alter table orders add column a boolean not null default false, add column b text'],
    ['create table visits (id bigint primary key, note text not null); create index on visits (note)'],
    ['create index on channels (app_id)'],
    ["alter table orders drop constraint c; alter table orders add constraint c check (a in ('X', 'Y')) not valid"],
    ['create function f() returns void language sql as $$ drop table orders $$'],
    ['\n-- Afterwards:\ncreate index concurrently orders_note on orders (note)'],
    ["\n-- Afterwards:\ncall update_in_steps('orders', 'note = 1', null, 'note is null')"],
    ['-- Contract: no longer read.\nalter table orders drop column note'],
    ['-- Contract: one each.\n\n-- Afterwards:\ncreate unique index concurrently one_each on orders (note)'],
  ])('may do this: %s', (text) => {
    expect(violations(text)).toEqual([]);
  });

  it.each([
    ['drop table orders', /takes away/],
    ['alter table orders drop column note', /takes away/],
    ['drop index orders_due', /takes away/],
    ['alter table orders drop constraint c', /takes away/],
    ['alter table orders rename column note to text', /renames/],
    ['alter table orders alter column note type integer', /changes a type/],
    ['alter table orders alter column note set not null', /older nodes do not write/],
    ['alter table orders add column note text not null', /older nodes leave empty/],
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
    ['-- Contract: x.\ncreate index one_each on orders (note)', /locks out writers/],
    ["update orders set note = ''", /many rows/],
    ['lock table orders', /many rows/],
  ])('may not do this: %s', (text, why) => {
    expect(violations(text).join('\n')).toMatch(why);
  });
});
