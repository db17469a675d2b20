import { columns, type Queryable, queryOne, statement } from '../db/database.js';
import { PlainError } from '../plain-error.js';

/**
 * Thrown if the database is not the one that the installation remembers, and no operator has adopted it. Also thrown if
 * the role may not read the identity to compare.
 */
export class UnconfirmedCopy extends PlainError {
  constructor(
    message = 'this database is a copy, or was moved to another server: nothing is debited, billed or sent until an operator runs perennial installation adopt',
  ) {
    super(message);
  }
}

const MAY_READ_IDENTITY = statement({
  text: `select has_function_privilege('pg_catalog.pg_control_system()', 'execute') as allowed, current_user::text as role`,
  parameters: [],
  columns: columns({ allowed: 'boolean', role: 'text' }),
});

/** The identity of the database. Replicas have the same identifier as their primary, so it survives a failover. */
const READ_IDENTITY = statement({
  text: `select s.system_identifier::text || '/' || d.oid as identity
     from pg_catalog.pg_control_system() s, pg_database d where d.datname = current_database()`,
  parameters: [],
  columns: columns({ identity: 'text' }),
});

interface Identity {
  /** The identity. Null if the role may not read it. */
  readonly current: string | null;
  readonly role: string;
}

async function readIdentity(db: Queryable): Promise<Identity> {
  // Checks the privilege in a separate statement, because PostgreSQL would require it even if the statement never
  // called the function.
  const [may] = await db.query(MAY_READ_IDENTITY);
  const [row] = may?.allowed ? await db.query(READ_IDENTITY) : [];
  return { current: row?.identity ?? null, role: may?.role ?? '' };
}

const FIND_REMEMBERED = statement({
  text: 'select database_identity as remembered from installation',
  parameters: [],
  columns: columns({ remembered: 'text?' }),
});

async function findRemembered(db: Queryable): Promise<string | null> {
  return (await queryOne(db, FIND_REMEMBERED))?.remembered ?? null;
}

const REMEMBER_FIRST = statement({
  text: 'update installation set database_identity = $1 where database_identity is null',
  parameters: ['text'],
});

/**
 * Stores the database's identity if none is stored. Throws UnconfirmedCopy if a different one is stored, or if one is
 * stored and the role may not read the identity of this database. Returns a warning if none is stored and the role may
 * not read the identity.
 */
export async function claimDatabase(db: Queryable): Promise<string | undefined> {
  const { current, role } = await readIdentity(db);
  if (current !== null) await db.query(REMEMBER_FIRST, [current]);
  const remembered = await findRemembered(db);
  if (remembered !== null && current === null) {
    throw new UnconfirmedCopy(
      `cannot tell whether this database is a copy: grant execute on function pg_control_system() to ${role}`,
    );
  }
  if (remembered !== null && remembered !== current) throw new UnconfirmedCopy();
  if (current !== null) return undefined;
  return `copies of this database cannot be recognized: grant execute on function pg_control_system() to ${role}`;
}

export async function needsAdoption(db: Queryable): Promise<boolean> {
  const remembered = await findRemembered(db);
  return remembered !== null && remembered !== (await readIdentity(db)).current;
}

const REMEMBER = statement({
  text: 'update installation set database_identity = $1',
  parameters: ['text'],
});

export interface Adoption {
  readonly from: string | null;
  readonly to: string | null;
}

/**
 * Stores this database's identity as the installation's. Returns undefined if nothing changes. Throws if an identity is
 * stored, but the role may not read the identity of this database.
 */
export async function adoptDatabase(tx: Queryable): Promise<Adoption | undefined> {
  const from = await findRemembered(tx);
  const { current: to, role } = await readIdentity(tx);
  if (from === to) return undefined;
  if (to === null) {
    throw new PlainError(
      `grant execute on function pg_control_system() to ${role} first: without it copies cannot be recognized`,
    );
  }
  await tx.query(REMEMBER, [to]);
  return { from, to };
}
