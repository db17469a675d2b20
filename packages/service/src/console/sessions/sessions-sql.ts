import type { Role } from '../../operator/people/roles.js';
import { column, columns, type RowOf } from '../../platform/db/database.js';
import { declareFind, declareHas, declareList, declareWrite, type Query } from '../../platform/db/declared.js';
import { shanghaiText } from '../../platform/db/time-sql.js';

/** The maximum duration of a session. */
export const SESSION_HOURS = 12;
/** A session ends if it is not used for this time. */
export const IDLE_MINUTES = 15;
/** The time for which an operator's identity counts as confirmed. */
export const PROOF_MINUTES = 5;

export type SessionRow = RowOf<typeof SESSION_COLUMNS>;

const LIVE = `s.expires_at > now() and s.last_seen_at > now() - interval '${IDLE_MINUTES} minutes'`;
const PROVEN_UNTIL = `s.proven_at + interval '${PROOF_MINUTES} minutes'`;

const SESSION_COLUMNS = columns({
  sessionId: 'uuid',
  personId: 'bigint',
  name: 'text',
  role: column<Role>('text'),
  hasTotp: 'boolean',
  recoveryCodesLeft: 'integer',
  hasPassword: 'boolean',
  /** True if the identity provider has authenticated the operator. */
  isBySingleSignOn: 'boolean',
  isProven: 'boolean',
  provenUntil: 'text',
  expiresAt: 'text',
  /** True if the stored time of last use is so old that the time of this use must be stored. */
  isStale: 'boolean',
});

/** Returns an unexpired session of an operator who is allowed to sign in. */
export const findSession: Query<[tokenHash: Buffer], SessionRow | undefined> = declareFind({
  text: `select s.session_id as "sessionId", p.person_id as "personId", p.name, p.role,
       p.totp_secret is not null as "hasTotp",
       cardinality(p.recovery_hashes) as "recoveryCodesLeft", p.password_hash is not null as "hasPassword",
       s.by_single_sign_on as "isBySingleSignOn",
       ${PROVEN_UNTIL} > now() as "isProven", ${shanghaiText(PROVEN_UNTIL)} as "provenUntil",
       ${shanghaiText('s.expires_at')} as "expiresAt", s.last_seen_at < now() - interval '1 minute' as "isStale"
     from console_sessions s join people p using (person_id)
     where s.token_hash = $1 and ${LIVE} and p.status = 'ACTIVE'`,
  parameters: ['bytea'],
  columns: SESSION_COLUMNS,
});

export const touchSession: Query<[sessionId: string], void> = declareWrite({
  text: 'update console_sessions set last_seen_at = now() where session_id = $1',
  parameters: ['uuid'],
});

/** Inserts a session. Its operator must confirm their identity before sensitive actions if `isProven` is false. */
export const insertSession = declareWrite({
  text: `insert into console_sessions (token_hash, person_id, address, user_agent, by_single_sign_on, proven_at, expires_at)
     values ($1, $2, $3, $4, $5, case when $6 then now() else to_timestamp(0) end, now() + interval '${SESSION_HOURS} hours')`,
  parameters: {
    tokenHash: 'bytea',
    personId: 'bigint',
    address: 'text',
    userAgent: 'text',
    isBySingleSignOn: 'boolean',
    isProven: 'boolean',
  },
});

export const deleteSessionOfToken: Query<[tokenHash: Buffer], void> = declareWrite({
  text: 'delete from console_sessions where token_hash = $1',
  parameters: ['bytea'],
});

export const storeProof: Query<[sessionId: string], void> = declareWrite({
  text: 'update console_sessions set proven_at = now() where session_id = $1',
  parameters: ['uuid'],
});

/** Returns false if the operator has no such session. */
export const deleteSession: Query<[sessionId: string, personId: number], boolean> = declareHas({
  text: `delete from console_sessions where session_id::text = $1 and person_id = $2 returning 1`,
  parameters: ['text', 'bigint'],
});

/** Returns the unexpired sessions of an operator. */
export const listSessions = declareList({
  text: `select s.session_id as "sessionId", s.address, s.user_agent as "userAgent",
       ${shanghaiText('s.created_at')} as "createdAt", ${shanghaiText('s.last_seen_at')} as "lastSeenAt"
     from console_sessions s where s.person_id = $1 and ${LIVE} order by s.last_seen_at desc`,
  parameters: ['bigint'],
  columns: columns({
    sessionId: 'uuid',
    address: 'text',
    userAgent: 'text',
    createdAt: 'text',
    lastSeenAt: 'text',
  }),
});
