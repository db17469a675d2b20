import { columns, type Queryable, statement } from '../../platform/db/database.js';
import { declareWrite, type Query } from '../../platform/db/declared.js';

/**
 * Limits of failed attempts. An attempt counts as failed before it is checked, so that concurrent attempts cannot
 * exceed the limit. If the password or code is right, the failure is taken back.
 */
export interface LockOut {
  /** The number of failures after which a lock begins. */
  readonly tries: number;
  /** The duration of the first lock, and the maximum duration of a lock. Each further failure doubles the duration. */
  readonly firstSeconds: number;
  readonly longestSeconds: number;
  /** The time without a counted attempt, right or wrong, after which the count is reset. */
  readonly forgetSeconds: number;
}

/** The limit of one name from one address, of one device, or of one session. It locks out nobody else. */
export const BY_SOURCE: LockOut = { tries: 5, firstSeconds: 60, longestSeconds: 3600, forgetSeconds: 24 * 3600 };
/** The limit of one name from all unknown devices, against guesses from many addresses. */
export const BY_NAME: LockOut = { ...BY_SOURCE, tries: 50 };
export const BY_ADDRESS: LockOut = { tries: 30, firstSeconds: 900, longestSeconds: 900, forgetSeconds: 900 };

const COUNT_TRY = statement({
  text: `insert into sign_in_failures as f (key, locked_until)
       values ($1, case when $2 <= 1 then now() + $3 * interval '1 second' end)
     on conflict (key) do update set
       failures = case when f.began_at < now() - $5 * interval '1 second' then 1 else f.failures + 1 end,
       began_at = now(),
       locked_until = case when f.began_at >= now() - $5 * interval '1 second' and f.failures + 1 >= $2
         then now() + least($4, $3 * power(2, f.failures + 1 - $2)) * interval '1 second' end
     where f.locked_until is null or f.locked_until <= now()
     returning f.failures`,
  parameters: ['text', 'integer', 'double precision', 'double precision', 'double precision'],
  columns: columns({ failures: 'integer' }),
});

const FIND_LOCK = statement({
  text: `select ceil(extract(epoch from locked_until - now()))::integer as seconds from sign_in_failures
     where key = $1 and locked_until > now()`,
  parameters: ['text'],
  columns: columns({ seconds: 'integer' }),
});

/** Counts an attempt. Returns the remaining seconds of the lock, or undefined if the attempt may be checked. */
export async function countTry(db: Queryable, key: string, rule: LockOut): Promise<number | undefined> {
  const { tries, firstSeconds, longestSeconds, forgetSeconds } = rule;
  const counted = await db.query(COUNT_TRY, [key, tries, firstSeconds, longestSeconds, forgetSeconds]);
  if (counted.length > 0) return undefined;
  const [lock] = await db.query(FIND_LOCK, [key]);
  return Math.max(1, lock?.seconds ?? 1);
}

/** Deletes a count. After the right password, the earlier failures are taken for the owner's mistakes. */
export const forgetTries: Query<[key: string], void> = declareWrite({
  text: 'delete from sign_in_failures where key = $1',
  parameters: ['text'],
});

/** Takes back one failure. Keeps the other failures, because several users may share an address. */
export const takeBackTry: Query<[key: string], void> = declareWrite({
  text: `update sign_in_failures set failures = failures - 1, locked_until = null where key = $1 and failures > 0`,
  parameters: ['text'],
});
