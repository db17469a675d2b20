import { column, columns, type Queryable, queryOne, type RowOf, statement } from '../../platform/db/database.js';
import { declareFind, declareHas, declareList, declareWrite, type Query } from '../../platform/db/declared.js';
import { shanghaiText } from '../../platform/db/time-sql.js';
import type { Role } from './roles.js';

/** The time in which the set-up of a second factor must be confirmed. */
const TOTP_SETUP_MINUTES = 10;

export type PersonRow = RowOf<typeof PERSON_COLUMNS>;

const PERSON_FIELDS = `p.person_id as "personId", p.name, p.role, p.status, p.password_hash as "passwordHash",
  p.totp_secret as "totpSecret", p.totp_step as "totpStep",
  case when p.totp_pending_until > now() then p.totp_pending end as "totpPending",
  p.former_passwords as "formerPasswords"`;

export const PERSON_COLUMNS = columns({
  personId: 'bigint',
  name: 'text',
  role: column<Role>('text'),
  status: column<'ACTIVE' | 'DISABLED'>('text'),
  passwordHash: 'text?',
  /** The secret of the second factor, wrapped under the master key. */
  totpSecret: 'text?',
  /** The secret of a set-up that was begun and has not expired. */
  totpPending: 'text?',
  totpStep: 'bigint',
  /** The hashes of the passwords before the current one, latest first. A trigger stores them. */
  formerPasswords: 'text[]',
});

/**
 * SQL: the operator has the name $1. Ignores only the case of ASCII letters, as names have no others. Otherwise `İ` would
 * sign in as `i`, and its wrong attempts would be counted apart.
 */
export const IS_NAMED = 'lower(p.name) = lower($1 collate "C") collate "default"';

export const findPerson: Query<[name: string], PersonRow | undefined> = declareFind({
  text: `select ${PERSON_FIELDS} from people p where ${IS_NAMED}`,
  parameters: ['text'],
  columns: PERSON_COLUMNS,
});

export const lockPerson: Query<[name: string], PersonRow | undefined> = declareFind({
  text: `select ${PERSON_FIELDS} from people p where ${IS_NAMED} for update`,
  parameters: ['text'],
  columns: PERSON_COLUMNS,
});

/** Locks and returns the operator whose setup link has this hash and is still valid. */
export const lockPersonBySetup: Query<[setupHash: Buffer], PersonRow | undefined> = declareFind({
  text: `select ${PERSON_FIELDS} from people p where p.setup_hash = $1 and p.setup_until > now() for update`,
  parameters: ['bytea'],
  columns: PERSON_COLUMNS,
});

export const findPersonBySingleSignOn: Query<[subject: string], PersonRow | undefined> = declareFind({
  text: `select ${PERSON_FIELDS} from people p where p.single_sign_on = $1`,
  parameters: ['text'],
  columns: PERSON_COLUMNS,
});

/** An operator as other operators see them. */
export type PersonView = RowOf<typeof PERSON_VIEW_COLUMNS>;

const PERSON_VIEW_COLUMNS = columns({
  name: 'text',
  role: column<Role>('text'),
  status: column<'ACTIVE' | 'DISABLED'>('text'),
  hasPassword: 'boolean',
  hasTotp: 'boolean',
  hasSingleSignOn: 'boolean',
  lockedUntil: 'text?',
  lastSignInAt: 'text?',
  createdAt: 'text',
  createdBy: 'text',
});

/** Returns one operator, or all, sorted by name. */
export const describePeople: Query<[name?: string], PersonView[]> = declareList({
  text: `select p.name, p.role, p.status, p.password_hash is not null as "hasPassword", p.totp_secret is not null as "hasTotp",
       p.single_sign_on is not null as "hasSingleSignOn",
       (select ${shanghaiText('f.locked_until')} from sign_in_failures f
        where f.key = 'name ' || lower(p.name) and f.locked_until > now()) as "lockedUntil",
       ${shanghaiText('p.last_sign_in_at')} as "lastSignInAt", ${shanghaiText('p.created_at')} as "createdAt",
       p.created_by as "createdBy"
     from people p where $1::text is null or ${IS_NAMED} order by lower(p.name)`,
  parameters: ['text?'],
  columns: PERSON_VIEW_COLUMNS,
});

const INSERT_PERSON = statement({
  text: `insert into people (name, role, created_by) values ($1, $2, $3) on conflict (lower(name)) do nothing
     returning person_id as "personId"`,
  parameters: ['text', 'text', 'text'],
  columns: columns({ personId: 'bigint' }),
});

/** Returns undefined if the name is taken. */
export async function insertPerson(
  tx: Queryable,
  { name, role, by }: { readonly name: string; readonly role: Role; readonly by: string },
): Promise<number | undefined> {
  return (await queryOne(tx, INSERT_PERSON, [name, role, by]))?.personId;
}

export const storeRole: Query<[personId: number, role: Role], void> = declareWrite({
  text: 'update people set role = $2 where person_id = $1',
  parameters: ['bigint', 'text'],
});

export const storePersonStatus: Query<[personId: number, status: PersonRow['status']], void> = declareWrite({
  text: 'update people set status = $2 where person_id = $1',
  parameters: ['bigint', 'text'],
});

/** Stores a password. Invalidates an unused setup link. */
export const storePassword: Query<[personId: number, passwordHash: string], void> = declareWrite({
  text: 'update people set password_hash = $2, setup_hash = null, setup_until = null where person_id = $1',
  parameters: ['bigint', 'text'],
});

/**
 * Stores a setup link. Removes the password and the second factor, because the holder of the link sets a new password.
 */
export const storeSetup: Query<[personId: number, setupHash: Buffer, hours: number], void> = declareWrite({
  text: `update people set setup_hash = $2, setup_until = now() + $3 * interval '1 hour', password_hash = null,
       totp_secret = null, totp_pending = null, recovery_hashes = '{}' where person_id = $1`,
  parameters: ['bigint', 'bytea', 'double precision'],
});

/** Begins the set-up of a second factor, or cancels it. */
export const storePendingTotp: Query<[personId: number, wrapped: string | null], void> = declareWrite({
  text: `update people set totp_pending = $2, totp_pending_until = now() + interval '${TOTP_SETUP_MINUTES} minutes' where person_id = $1`,
  parameters: ['bigint', 'text?'],
});

/** Stores or removes the second factor. Its recovery codes end. */
export const storeTotp: Query<[personId: number, wrapped: string | null, step: number], void> = declareWrite({
  text: `update people set totp_secret = $2, totp_pending = null, totp_step = $3, recovery_hashes = '{}' where person_id = $1`,
  parameters: ['bigint', 'text?', 'bigint'],
});

/** Replaces the operator's recovery codes. */
export const storeRecoveryHashes: Query<[personId: number, hashes: readonly string[]], void> = declareWrite({
  text: 'update people set recovery_hashes = $2 where person_id = $1',
  parameters: ['bigint', 'text[]'],
});

/** Uses up a recovery code. Returns the number of codes left, or undefined if the operator has no such code. */
export const useRecoveryHash: Query<[personId: number, hash: string], number | undefined> = declareFind({
  text: `update people set recovery_hashes = array_remove(recovery_hashes, $2)
     where person_id = $1 and $2 = any(recovery_hashes) returning cardinality(recovery_hashes) as left`,
  parameters: ['bigint', 'text'],
  columns: columns({ left: 'integer' }),
  value: ({ left }) => left,
});

/** Marks a code's time step as used. Returns false if a code of this or a later step was used already. */
export const useTotpStep: Query<[personId: number, step: number], boolean> = declareHas({
  text: 'update people set totp_step = $2 where person_id = $1 and totp_step < $2 returning 1',
  parameters: ['bigint', 'bigint'],
});

/** Links the operator to an account at the identity provider. Returns false if a link exists already. */
export const storeSingleSignOn: Query<[personId: number, subject: string], boolean> = declareHas({
  text: `update people set single_sign_on = $2 where person_id = $1 and single_sign_on is null returning 1`,
  parameters: ['bigint', 'text'],
});

/** Removes the link to an account at the identity provider. Returns false if there is none. */
export const removeSingleSignOn: Query<[personId: number], boolean> = declareHas({
  text: 'update people set single_sign_on = null where person_id = $1 and single_sign_on is not null returning 1',
  parameters: ['bigint'],
});

/**
 * Stores the time of a sign-in, and locks the operator. Returns false if the operator is disabled, or no longer has the
 * password that was checked.
 */
export const storeSignIn: Query<[personId: number, passwordHash: string | null], boolean> = declareHas({
  text: `update people set last_sign_in_at = now()
     where person_id = $1 and status = 'ACTIVE' and password_hash is not distinct from $2 returning 1`,
  parameters: ['bigint', 'text?'],
});

/** Locks the rows, so that two admins cannot disable each other concurrently. */
export const lockActiveAdmins = declareList({
  text: `select person_id as "personId", name, password_hash is not null or single_sign_on is not null as "canSignIn",
       last_sign_in_at is not null as "hasSignedIn"
     from people where role = 'admin' and status = 'ACTIVE' for update`,
  parameters: [],
  columns: columns({
    personId: 'bigint',
    name: 'text',
    /** True if the operator has a password, or an account at the identity provider. */
    canSignIn: 'boolean',
    hasSignedIn: 'boolean',
  }),
});

const END_SESSIONS = statement({
  text: 'delete from console_sessions where person_id = $1 and ($2::uuid is null or session_id <> $2)',
  parameters: ['bigint', 'uuid'],
});

/** Ends all sessions of an operator, except the session `except`. */
export async function endSessions(tx: Queryable, personId: number, except: string | null = null): Promise<void> {
  await tx.query(END_SESSIONS, [personId, except]);
}

/** Returns false if the session has ended. */
export const hasSession: Query<[sessionId: string], boolean> = declareHas({
  text: 'select 1 from console_sessions where session_id = $1',
  parameters: ['uuid'],
});

/** Unlocks the account, for every address. */
export const forgetFailures: Query<[name: string], void> = declareWrite({
  text: `delete from sign_in_failures where key = 'name ' || lower($1)
     or starts_with(key, 'pair ') and split_part(key, ' ', 3) = lower($1)`,
  parameters: ['text'],
});
