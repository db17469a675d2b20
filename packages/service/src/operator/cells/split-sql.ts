import { setTimeout as delay } from 'node:timers/promises';
import { columns, declareHas, declareList, declareRequire, type Queryable } from '../../platform/db/database.js';

/** Statements of a split. They run in a maintenance database of a server, because the cells' own refuse connections. */

/** Patroni sets `track_commit_timestamp` on the command line, which hardly anybody else does. */
export const readServer = declareRequire({
  text: `select pg_is_in_recovery() as "isReplica", pg_postmaster_start_time()::text as "startedAt",
       (select system_identifier::text from pg_catalog.pg_control_system()) as system,
       case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end::text as position,
       to_regclass('installation') is not null as "isCell",
       has_function_privilege('pg_catalog.pg_promote(boolean, integer)', 'execute') as "mayPromote",
       (select source = 'command line' from pg_settings where name = 'track_commit_timestamp') as "isPatronis"`,
  parameters: [],
  columns: columns({
    isReplica: 'boolean',
    startedAt: 'text',
    system: 'text',
    position: 'text?',
    isCell: 'boolean',
    mayPromote: 'boolean',
    isPatronis: 'boolean',
  }),
});

/** Autovacuum also works in databases that refuse connections. It changes no data. */
const IS_SESSION = `a.backend_type <> 'autovacuum worker'`;

/** The databases of a server, except templates and the one that is connected to. */
export const listDatabases = declareList({
  text: `select d.datname::text as name, d.datallowconn as "isOpen", shobj_description(d.oid, 'pg_database') as mark,
       pg_has_role(d.datdba, 'member') as "isOwned",
       (select count(*) from pg_stat_activity a where a.datid = d.oid and ${IS_SESSION})::integer as sessions,
       (select count(*) from pg_stat_activity a where a.datid = d.oid and ${IS_SESSION}
          and not pg_has_role(a.usesysid, 'member') and not pg_has_role('pg_signal_backend', 'member'))::integer
         as "foreignSessions"
     from pg_database d where not d.datistemplate and d.datname <> current_database() order by d.datname`,
  parameters: [],
  columns: columns({
    name: 'text',
    isOpen: 'boolean',
    mark: 'text?',
    isOwned: 'boolean',
    sessions: 'integer',
    foreignSessions: 'integer',
  }),
});

/** Bytes of WAL between two positions. */
export const countBytesBetween = declareRequire({
  text: `select pg_wal_lsn_diff($1::text::pg_lsn, $2::text::pg_lsn)::double precision as bytes`,
  parameters: ['text', 'text'],
  columns: columns({ bytes: 'double precision' }),
  value: ({ bytes }) => bytes,
});

/** Returns whether a replica receives WAL. A role without the right to see the receiver's state sees only whether there is one. */
export const isStreaming = declareHas({
  text: `select from pg_stat_wal_receiver where coalesce(status, 'streaming') = 'streaming'`,
  parameters: [],
});

/** The name under which a replica streams. */
export const readStreamName = declareRequire({
  text: `select coalesce((select substring(conninfo, 'application_name=(\\S+)') from pg_stat_wal_receiver),
       nullif(current_setting('cluster_name'), ''), 'walreceiver') as name`,
  parameters: [],
  columns: columns({ name: 'text' }),
  value: ({ name }) => name,
});

/** Returns true if commits of this server wait for the replica of that name. */
export const waitsForReplica = declareHas({
  text: `select from pg_stat_replication where application_name = $1 and sync_state in ('sync', 'quorum')`,
  parameters: ['text'],
});

/** Replication slots that nobody uses. They keep WAL until the disk is full. */
export const listUnusedSlots = declareList({
  text: `select slot_name::text as name from pg_replication_slots where not active order by 1`,
  parameters: [],
  columns: columns({ name: 'text' }),
  value: ({ name }) => name,
});

export const endSessions = declareList({
  text: `select pg_terminate_backend(a.pid) as ended from pg_stat_activity a
     where a.datname = any($1::text[]) and ${IS_SESSION}`,
  parameters: ['text[]'],
  columns: columns({ ended: 'boolean' }),
});

export const promote = declareList({
  text: 'select pg_promote(false) as began',
  parameters: [],
  columns: columns({ began: 'boolean' }),
});

const mayMakeReadOnly = declareRequire({
  text: `select has_parameter_privilege('default_transaction_read_only', 'alter system')
       and has_function_privilege('pg_catalog.pg_reload_conf()', 'execute')
       and coalesce(current_setting('allow_alter_system', true), 'on') = 'on' as may`,
  parameters: [],
  columns: columns({ may: 'boolean' }),
  value: ({ may }) => may,
});

const readsOnly = declareRequire({
  text: `select current_setting('default_transaction_read_only')::boolean as "readsOnly"`,
  parameters: [],
  columns: columns({ readsOnly: 'boolean' }),
  value: (row) => row.readsOnly,
});

const reloadSettings = declareRequire({
  text: 'select pg_reload_conf() as began',
  parameters: [],
  columns: columns({ began: 'boolean' }),
});

/**
 * Makes all sessions of a server read-only, also those that exist, or ends that. A replica takes the setting too. Does
 * nothing if the role or the server does not allow it.
 */
export async function makeReadOnly(db: Queryable, isReadOnly: boolean): Promise<void> {
  if (!(await mayMakeReadOnly(db))) return;
  await db.query(
    `alter system ${isReadOnly ? 'set default_transaction_read_only = on' : 'reset default_transaction_read_only'}`,
  );
  await reloadSettings(db);
  // The server notifies its sessions soon, this one with the others. Not longer: a setting of the role may differ.
  for (let n = 0; n < 100 && (await readsOnly(db)) !== isReadOnly; n += 1) await delay(20);
}

/** Lets a transaction write on a server that is read-only. Must be its first statement. */
export async function allowWrites(tx: Queryable): Promise<void> {
  await tx.query('set transaction read write');
}

const quoteName = (name: string) => `"${name.replaceAll('"', '""')}"`;
const quoteText = (text: string) => `'${text.replaceAll("'", "''")}'`;

export async function allowConnections(db: Queryable, database: string, isAllowed: boolean): Promise<void> {
  await db.query(`alter database ${quoteName(database)} allow_connections ${isAllowed}`);
}

/** Sets the comment on a database, which replicas show too. */
export async function markDatabase(db: Queryable, database: string, mark: string | null): Promise<void> {
  await db.query(`comment on database ${quoteName(database)} is ${mark === null ? 'null' : quoteText(mark)}`);
}
