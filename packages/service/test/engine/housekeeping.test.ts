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

/** Returns the slot that is used next, and whose nonces are stale. */
const staleSlot = async () => ((await slotAfter(TIMESTAMP_SKEW_MS)) + 1) % 4;

const seen = (slot: number, minutesAgo: number) =>
  fresh.database.query(
    `insert into nonces (slot, channel_id, nonce, seen_at) values ($1, 1, $2, now() - $3::integer * interval '1 minute')`,
    [slot, randomBytes(16), minutesAgo],
  );
const countOf = async (table: string) =>
  (await fresh.database.query<{ n: number }>(`select count(*) as n from ${table}`))[0]?.n;

describe('nonces', () => {
  it('the next slot is emptied once everything in it is past the window, and not before', async () => {
    const stale = await staleSlot();
    await seen(stale, 25);
    await seen(stale, 9);
    expect(await tidy()).toEqual({});
    expect(await countOf('nonces')).toBe(2);
    await fresh.database.query(`update nonces set seen_at = seen_at - interval '2 minutes'`);
    expect(await tidy()).toEqual({ nonceSlotsEmptied: 1 });
    expect(await countOf('nonces')).toBe(0);
    const { length } = log.lines();
    expect(await tidy()).toEqual({});
    // A run without work logs nothing.
    expect(log.lines()).toHaveLength(length);
  });

  it('every timestamp that is accepted, or was within the window, is in one of the other three slots', async () => {
    const stale = await staleSlot();
    for (let minute = -15; minute <= 5; minute += 1) {
      expect(await slotAfter(minute * MINUTE)).not.toBe(stale);
    }
  });
});

describe('a table in use', () => {
  it('is left alone without a log line, and nobody waits long', async () => {
    const stale = await staleSlot();
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
    expect(await countOf('sms_sends')).toBe(2);
  });
});

describe('chores', () => {
  it('a chore that fails is logged by its name and does not prevent the others', async () => {
    await fresh.database.query('alter table idempotency rename to idempotency_away');
    await seen(await staleSlot(), 25);
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
  it('are deleted after seven days and not before, all in one run, however many there are', async () => {
    await fresh.database.query(
      `insert into idempotency (channel_id, key, path, body_sha256, state, created_at)
       select 1, n::text, '/x', '\\x00', 'DONE', now() - case when n > 2500 then 6.99 else 7.01 end * interval '1 day'
       from generate_series(1, 2501) n`,
    );
    expect(await tidy()).toEqual({ answersDeleted: 2500 });
    expect(await countOf('idempotency')).toBe(1);
  });
});
