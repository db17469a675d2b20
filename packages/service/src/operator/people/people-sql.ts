import { column, columns, type Queryable, queryOne, type RowOf, statement } from '../../platform/db/database.js';
import { shanghaiText } from '../../platform/db/time-sql.js';
import type { Role } from './roles.js';

export type PersonRow = RowOf<typeof PERSON_COLUMNS>;

const PERSON_FIELDS = `p.person_id as "personId", p.name, p.role, p.status, p.password_hash as "passwordHash",
  p.totp_secret as "totpSecret", p.totp_pending as "totpPending", p.totp_step as "totpStep"`;

export const PERSON_COLUMNS = columns({
  personId: 'bigint',
  name: 'text',
  role: column<Role>('text'),
  status: column<'ACTIVE' | 'DISABLED'>('text'),
  passwordHash: 'text?',
  /** Wrapped under the master key. */
  totpSecret: 'text?',
  totpPending: 'text?',
  totpStep: 'bigint',
});

const FIND_PERSON = statement({
  text: `select ${PERSON_FIELDS} from people p where lower(p.name) = lower($1)`,
  parameters: ['text'],
  columns: PERSON_COLUMNS,
});

export async function findPerson(db: Queryable, name: string): Promise<PersonRow | undefined> {
  return queryOne(db, FIND_PERSON, [name]);
}

const LOCK_PERSON = statement({
  text: `select ${PERSON_FIELDS} from people p where lower(p.name) = lower($1) for update`,
  parameters: ['text'],
  columns: PERSON_COLUMNS,
});

export async function lockPerson(tx: Queryable, name: string): Promise<PersonRow | undefined> {
  return queryOne(tx, LOCK_PERSON, [name]);
}

const LOCK_BY_SETUP = statement({
  text: `select ${PERSON_FIELDS} from people p where p.setup_hash = $1 and p.setup_until > now() for update`,
  parameters: ['bytea'],
  columns: PERSON_COLUMNS,
});

/** Whose one-time link it is, while that holds. */
export async function lockPersonBySetup(tx: Queryable, setupHash: Buffer): Promise<PersonRow | undefined> {
  return queryOne(tx, LOCK_BY_SETUP, [setupHash]);
}

const FIND_BY_SINGLE_SIGN_ON = statement({
  text: `select ${PERSON_FIELDS} from people p where p.single_sign_on = $1`,
  parameters: ['text'],
  columns: PERSON_COLUMNS,
});

export async function findPersonBySingleSignOn(db: Queryable, subject: string): Promise<PersonRow | undefined> {
  return queryOne(db, FIND_BY_SINGLE_SIGN_ON, [subject]);
}

/** As people see each other. */
export type PersonView = RowOf<typeof DESCRIBE_PEOPLE>;

const DESCRIBE_PEOPLE = statement({
  text: `select p.name, p.role, p.status, p.password_hash is not null as "hasPassword", p.totp_secret is not null as "hasTotp",
       p.single_sign_on is not null as "hasSingleSignOn",
       (select ${shanghaiText('f.locked_until')} from sign_in_failures f
        where f.key = 'name ' || lower(p.name) and f.locked_until > now()) as "lockedUntil",
       ${shanghaiText('p.last_sign_in_at')} as "lastSignInAt", ${shanghaiText('p.created_at')} as "createdAt",
       p.created_by as "createdBy"
     from people p where $1::text is null or lower(p.name) = lower($1) order by lower(p.name)`,
  parameters: ['text'],
  columns: columns({
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
  }),
});

/** By name; one of them, or all. */
export async function describePeople(db: Queryable, name?: string): Promise<PersonView[]> {
  return db.query(DESCRIBE_PEOPLE, [name ?? null]);
}

const INSERT_PERSON = statement({
  text: `insert into people (name, role, created_by) values ($1, $2, $3) on conflict (lower(name)) do nothing
     returning person_id as "personId"`,
  parameters: ['text', 'text', 'text'],
  columns: columns({ personId: 'bigint' }),
});

/** Undefined when there is one of that name. */
export async function insertPerson(
  tx: Queryable,
  { name, role, by }: { readonly name: string; readonly role: Role; readonly by: string },
): Promise<number | undefined> {
  return (await queryOne(tx, INSERT_PERSON, [name, role, by]))?.personId;
}

const STORE_ROLE = statement({
  text: 'update people set role = $2 where person_id = $1',
  parameters: ['bigint', 'text'],
});

export async function storeRole(tx: Queryable, personId: number, role: Role): Promise<void> {
  await tx.query(STORE_ROLE, [personId, role]);
}

const STORE_STATUS = statement({
  text: 'update people set status = $2 where person_id = $1',
  parameters: ['bigint', 'text'],
});

export async function storePersonStatus(tx: Queryable, personId: number, status: PersonRow['status']): Promise<void> {
  await tx.query(STORE_STATUS, [personId, status]);
}

const STORE_PASSWORD = statement({
  text: 'update people set password_hash = $2, setup_hash = null, setup_until = null where person_id = $1',
  parameters: ['bigint', 'text'],
});

/** A link that would set another one ends with it. */
export async function storePassword(tx: Queryable, personId: number, passwordHash: string): Promise<void> {
  await tx.query(STORE_PASSWORD, [personId, passwordHash]);
}

const STORE_SETUP = statement({
  text: `update people set setup_hash = $2, setup_until = now() + $3 * interval '1 hour', password_hash = null,
       totp_secret = null, totp_pending = null where person_id = $1`,
  parameters: ['bigint', 'bytea', 'double precision'],
});

/** Whoever has the link sets the password; what there was before counts no more. */
export async function storeSetup(tx: Queryable, personId: number, setupHash: Buffer, hours: number): Promise<void> {
  await tx.query(STORE_SETUP, [personId, setupHash, hours]);
}

const STORE_PENDING_TOTP = statement({
  text: 'update people set totp_pending = $2 where person_id = $1',
  parameters: ['bigint', 'text'],
});

export async function storePendingTotp(tx: Queryable, personId: number, wrapped: string): Promise<void> {
  await tx.query(STORE_PENDING_TOTP, [personId, wrapped]);
}

const STORE_TOTP = statement({
  text: 'update people set totp_secret = $2, totp_pending = null, totp_step = $3 where person_id = $1',
  parameters: ['bigint', 'text', 'bigint'],
});

export async function storeTotp(tx: Queryable, personId: number, wrapped: string | null, step: number): Promise<void> {
  await tx.query(STORE_TOTP, [personId, wrapped, step]);
}

const USE_TOTP_STEP = statement({
  text: 'update people set totp_step = $2 where person_id = $1 and totp_step < $2 returning person_id as "personId"',
  parameters: ['bigint', 'bigint'],
  columns: columns({ personId: 'bigint' }),
});

/** False when a code of that step, or of a later one, was used: also by somebody else at this moment. */
export async function useTotpStep(db: Queryable, personId: number, step: number): Promise<boolean> {
  return (await db.query(USE_TOTP_STEP, [personId, step])).length > 0;
}

const STORE_SINGLE_SIGN_ON = statement({
  text: `update people set single_sign_on = $2 where person_id = $1 and single_sign_on is null
     returning person_id as "personId"`,
  parameters: ['bigint', 'text'],
  columns: columns({ personId: 'bigint' }),
});

/** False when the account is somebody else's at the identity provider. */
export async function storeSingleSignOn(tx: Queryable, personId: number, subject: string): Promise<boolean> {
  return (await tx.query(STORE_SINGLE_SIGN_ON, [personId, subject])).length > 0;
}

const STORE_SIGN_IN = statement({
  text: 'update people set last_sign_in_at = now() where person_id = $1',
  parameters: ['bigint'],
});

export async function storeSignIn(tx: Queryable, personId: number): Promise<void> {
  await tx.query(STORE_SIGN_IN, [personId]);
}

export type ActiveAdmin = RowOf<typeof LOCK_ACTIVE_ADMINS>;

const LOCK_ACTIVE_ADMINS = statement({
  text: `select person_id as "personId", password_hash is not null or single_sign_on is not null as "canSignIn"
     from people where role = 'admin' and status = 'ACTIVE' for update`,
  parameters: [],
  columns: columns({
    personId: 'bigint',
    /** Has a password, or an account at the identity provider. */
    canSignIn: 'boolean',
  }),
});

/** Under the locks of their rows, so that two of them cannot disable each other at once. */
export async function lockActiveAdmins(tx: Queryable): Promise<ActiveAdmin[]> {
  return tx.query(LOCK_ACTIVE_ADMINS);
}

const END_SESSIONS = statement({
  text: 'delete from console_sessions where person_id = $1 and ($2::uuid is null or session_id <> $2)',
  parameters: ['bigint', 'uuid'],
});

/** All sessions of a person, but perhaps this one. */
export async function endSessions(tx: Queryable, personId: number, except: string | null = null): Promise<void> {
  await tx.query(END_SESSIONS, [personId, except]);
}

const FORGET_FAILURES = statement({
  text: `delete from sign_in_failures where key = 'name ' || lower($1)`,
  parameters: ['text'],
});

/** The account is not locked any more. */
export async function forgetFailures(tx: Queryable, name: string): Promise<void> {
  await tx.query(FORGET_FAILURES, [name]);
}
