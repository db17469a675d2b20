import { randomBytes } from 'node:crypto';
import { NONCE_WINDOW_MS, TIMESTAMP_SKEW_MS } from '@perennial/wire';
import { beforeEach, describe, expect, it } from 'vitest';
import { createHousekeeping } from '../../src/engine/housekeeping.js';
import { ofEachTest } from '../orders/stage-of-file.js';
import { type CapturedLog, capturedLog } from '../support/captured-log.js';
import { freshDatabase } from '../support/database.js';

const fresh = ofEachTest(() => freshDatabase());
let log: CapturedLog;
let tidy: ReturnType<typeof createHousekeeping>;
beforeEach(() => {
  log = capturedLog();
  tidy = createHousekeeping({ database: fresh.database, log: log.log });
});

const MINUTE = 60_000;

/** Returns the nonce slot that is current `ms` milliseconds from now, by the database's clock. */
async function slotAfter(ms: number): Promise<number> {
  const [row] = await fresh.database.query<{ slot: number }>(
    `select (floor((extract(epoch from now()) * 1000 + $1) / $2)::bigint % 4)::integer as slot`,
    [ms, NONCE_WINDOW_MS],
  );
  return row?.slot ?? -1;
}

const seen = (slot: number, minutesAgo: number) =>
  fresh.database.query(
    `insert into nonces (slot, channel_id, nonce, seen_at) values ($1, 1, $2, now() - $3::integer * interval '1 minute')`,
    [slot, randomBytes(16), minutesAgo],
  );
const nonces = async () => (await fresh.database.query<{ n: number }>('select count(*) as n from nonces'))[0]?.n;

describe('nonces', () => {
  it('the next slot is emptied once everything in it is past the window', async () => {
    const stale = ((await slotAfter(TIMESTAMP_SKEW_MS)) + 1) % 4;
    await seen(stale, 25);
    await seen(stale, 11);
    expect(await tidy()).toEqual({ nonceSlotsEmptied: 1 });
    expect(await nonces()).toBe(0);
    const { length } = log.lines();
    expect(await tidy()).toEqual({});
    // A run without work logs nothing.
    expect(log.lines()).toHaveLength(length);
  });

  it('a slot that is still in use is left alone', async () => {
    const stale = ((await slotAfter(TIMESTAMP_SKEW_MS)) + 1) % 4;
    await seen(stale, 25);
    await seen(stale, 9);
    expect(await tidy()).toEqual({});
    expect(await nonces()).toBe(2);
  });

  it('every timestamp that is accepted, or was within the window, is in one of the other three slots', async () => {
    const stale = ((await slotAfter(TIMESTAMP_SKEW_MS)) + 1) % 4;
    for (let minute = -15; minute <= 5; minute += 1) {
      expect(await slotAfter(minute * MINUTE)).not.toBe(stale);
    }
  });
});

describe('a table in use', () => {
  it('is left alone without a log line, and nobody waits long', async () => {
    const stale = ((await slotAfter(TIMESTAMP_SKEW_MS)) + 1) % 4;
    await seen(stale, 25);
    await fresh.database.transaction(async (tx) => {
      await tx.query(`select from nonces_${stale}`);
      expect(await tidy()).toEqual({});
    });
    expect(log.text()).toBe('');
    expect(await tidy()).toEqual({ nonceSlotsEmptied: 1 });
  });
});

describe('sent codes', () => {
  it('are deleted after two days and not before', async () => {
    for (const hours of [1, 47, 49, 100]) {
      await fresh.database.query(
        `insert into sms_sends (bank_mobile_hash, sent_at) values ('\\x00', now() - $1::integer * interval '1 hour')`,
        [hours],
      );
    }
    expect(await tidy()).toEqual({ sendsDeleted: 2 });
    const [left] = await fresh.database.query<{ n: number }>('select count(*) as n from sms_sends');
    expect(left?.n).toBe(2);
  });
});

describe('chores', () => {
  it('a chore that fails is logged by its name and does not prevent the others', async () => {
    await fresh.database.query('alter table idempotency rename to idempotency_away');
    const stale = ((await slotAfter(TIMESTAMP_SKEW_MS)) + 1) % 4;
    await seen(stale, 25);
    await fresh.database.query(
      `insert into sms_sends (bank_mobile_hash, sent_at) values ('\\x00', now() - interval '3 days')`,
    );
    expect(await tidy()).toEqual({ nonceSlotsEmptied: 1, sendsDeleted: 1 });
    const [failed, done, ...more] = log.lines();
    expect(failed).toMatchObject({
      level: 'warn',
      job: 'housekeeping',
      chore: 'answersDeleted',
      err: { code: '42P01' },
    });
    expect(done).toMatchObject({ level: 'info', msg: 'housekeeping', nonceSlotsEmptied: 1, sendsDeleted: 1 });
    expect(more).toEqual([]);
  });
});

describe('idempotent answers', () => {
  const answer = (days: number) =>
    fresh.database.query(
      `insert into idempotency (channel_id, key, path, body_sha256, state, code, message, data, created_at)
       values (1, $1, '/x', '\\x00', 'DONE', '0', 'success', 'null', now() - $2::float8 * interval '1 day')`,
      [randomBytes(8).toString('hex'), days],
    );
  const answers = async () =>
    (await fresh.database.query<{ n: number }>('select count(*) as n from idempotency'))[0]?.n;

  it('are deleted after seven days and not before', async () => {
    await answer(6.99);
    await answer(7.01);
    expect(await tidy()).toEqual({ answersDeleted: 1 });
    expect(await answers()).toBe(1);
  });

  it('are all deleted in one run, however many there are', async () => {
    await fresh.database.query(
      `insert into idempotency (channel_id, key, path, body_sha256, state, created_at)
       select 1, n::text, '/x', '\\x00', 'DONE', now() - interval '8 days' from generate_series(1, 2500) n`,
    );
    expect(await tidy()).toEqual({ answersDeleted: 2500 });
    expect(await answers()).toBe(0);
  });
});
