import { columns, type Queryable, statement } from '../../platform/db/database.js';
import { declareWrite, type Query } from '../../platform/db/declared.js';

/**
 * A try counts as wrong before it is judged, and is taken back when it was right: of many at once, no more are judged than may
 * be wrong.
 */
export interface LockOut {
  /** Tries after which it is locked. */
  readonly tries: number;
  /** How long at first, and at most; each further wrong try doubles it. */
  readonly firstSeconds: number;
  readonly longestSeconds: number;
  /** After so long without a wrong try all is forgotten. */
  readonly forgetSeconds: number;
}

export const BY_NAME: LockOut = { tries: 5, firstSeconds: 60, longestSeconds: 3600, forgetSeconds: 24 * 3600 };
/** Of somebody who is signed in: whoever knows their name cannot lock them out of what they are doing. */
export const BY_SESSION: LockOut = BY_NAME;
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

/** The seconds for which it is locked; undefined when the try may be judged. */
export async function countTry(db: Queryable, key: string, rule: LockOut): Promise<number | undefined> {
  const { tries, firstSeconds, longestSeconds, forgetSeconds } = rule;
  const counted = await db.query(COUNT_TRY, [key, tries, firstSeconds, longestSeconds, forgetSeconds]);
  if (counted.length > 0) return undefined;
  const [lock] = await db.query(FIND_LOCK, [key]);
  return Math.max(1, lock?.seconds ?? 1);
}

/** Of a name: the right password shows that the wrong ones were its owner's. */
export const forgetTries: Query<[key: string], void> = declareWrite({
  text: 'delete from sign_in_failures where key = $1',
  parameters: ['text'],
});

/** Of an address, from which others may have tried too. */
export const takeBackTry: Query<[key: string], void> = declareWrite({
  text: `update sign_in_failures set failures = failures - 1, locked_until = null where key = $1 and failures > 0`,
  parameters: ['text'],
});
