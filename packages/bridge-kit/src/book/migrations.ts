import { BadSetting } from '../bad-setting.js';
import type { Queryable } from './queryable.js';

/** The columns that debits and refunds share. */
const STATE_COLUMNS = `
      state text not null check (state in ('BEGUN', 'OPEN', 'SETTLED')),
      institution_ref text,
      result jsonb,
      begun_at bigint not null,
      holder text not null,
      in_hand_until bigint not null,
      asked integer not null default 0,
      ask_at bigint not null,
      check ((state = 'SETTLED') = (result is not null))`;

/** The migration steps. A released step never changes; new steps are appended. */
const STEPS: readonly ((schema: string) => string)[] = [
  (schema) => `
    create table ${schema}.debits (
      number text primary key,
      app_id text,
      institution_no text,
      amount_cent bigint,
      order_no text,
      cycle_no integer,
      external_order_no text,
      started_at bigint,
      ${STATE_COLUMNS}
    );
    create index debits_open on ${schema}.debits (ask_at) where state <> 'SETTLED';

    create table ${schema}.refunds (
      number text primary key,
      attempt_no text not null,
      amount_cent bigint not null,
      debit_ref text,
      ${STATE_COLUMNS}
    );
    create index refunds_of_debit on ${schema}.refunds (attempt_no);
    create index refunds_open on ${schema}.refunds (ask_at) where state <> 'SETTLED';

    -- A number may be longer than a key of an index: its sha256 stands for it.
    create table ${schema}.ended_agreements (
      institution_no_sha256 text primary key,
      institution_no text not null,
      reason text not null,
      ended_at bigint not null
    );

    create table ${schema}.bindings (
      bind_order_no text primary key,
      codes integer not null,
      institution_no text
    );

    create table ${schema}.notices (
      notice_no text primary key,
      about text not null unique,
      message jsonb not null,
      owed_since bigint not null,
      send_at bigint not null,
      in_hand_until bigint not null default 0,
      tries integer not null default 0,
      refusals integer not null default 0,
      ended text check (ended in ('TAKEN', 'GIVEN_UP')),
      ended_at bigint
    );
    create index notices_owed on ${schema}.notices (send_at) where ended is null;

    create table ${schema}.pulse (one integer primary key check (one = 1), at bigint not null);`,

  // Indexes for deleting old rows.
  (schema) => `
    create index debits_old on ${schema}.debits (begun_at) where state = 'SETTLED';
    create index refunds_old on ${schema}.refunds (begun_at) where state = 'SETTLED';
    create index notices_old on ${schema}.notices (ended_at) where ended = 'TAKEN';`,

  // The book's owner.
  (schema) => `create table ${schema}.owner (one integer primary key check (one = 1), institution text not null);`,

  // Hash indexes, because an institution's reference may be too long for a B-tree key.
  (schema) => `
    create index debits_by_ref on ${schema}.debits using hash (institution_ref);
    create index refunds_by_ref on ${schema}.refunds using hash (institution_ref);`,
];

/**
 * Applies missing migrations under an advisory lock. Records the first institution as the book's owner. Throws if
 * another institution opens the book.
 */
export async function migrate(tx: Queryable, schema: string, institution: string): Promise<void> {
  await tx.query('select pg_advisory_xact_lock(hashtext($1))', [`bridge-kit ${schema}`]);
  await createSchema(tx, schema);
  await tx.query(`create table if not exists ${schema}.steps (step integer primary key)`);
  const [row] = await tx.query<{ done: number }>(`select coalesce(max(step), 0) as done from ${schema}.steps`);
  const done = row?.done ?? 0;
  if (done > STEPS.length) throw new Error('the book was created by a newer version of the kit');
  for (const [index, step] of STEPS.entries()) {
    if (index < done) continue;
    await tx.query(step(schema));
    await tx.query(`insert into ${schema}.steps values ($1)`, [index + 1]);
  }
  await requireOwner(tx, schema, institution);
}

/** Throws if another institution owns the book, because two bridges would query each other's numbers. */
async function requireOwner(tx: Queryable, schema: string, institution: string): Promise<void> {
  await tx.query(`insert into ${schema}.owner values (1, $1) on conflict do nothing`, [institution]);
  const [owner] = await tx.query<{ institution: string }>(`select institution from ${schema}.owner`);
  if (owner === undefined || owner.institution === institution) return;
  throw new BadSetting(
    `DATABASE_SCHEMA: ${schema} is the book of the bridge "${owner.institution}": choose another schema for "${institution}"`,
  );
}

/** Uses an existing schema, because the role may not be allowed to create one. */
async function createSchema(tx: Queryable, schema: string): Promise<void> {
  const found = await tx.query('select from pg_namespace where nspname = $1', [schema]);
  if (found.length === 0) await tx.query(`create schema ${schema}`);
}
