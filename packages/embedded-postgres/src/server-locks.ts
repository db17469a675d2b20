import pg from 'pg';
import { errorCode } from './error.js';
import type { Folder } from './folder.js';
import { SERVER_USER } from './initdb.js';

/**
 * Advisory locks that count the processes that use the server. Each process holds a shared lock on a dedicated
 * connection, and the one service also holds an exclusive lock. A lock ends with its connection, so a killed process
 * holds none. The locks are in the database "postgres", so that they cannot collide with the service's own locks.
 */
const LOCK_SPACE = 0x70726e6c; // "prnl"
const USERS_LOCK = 1;
const SERVICE_LOCK = 2;

export type Role = 'service' | 'tool';

export const DATABASE = 'perennial';

export async function connectToServer(folder: Folder, port: number, applicationName: string): Promise<pg.Client> {
  const client = new pg.Client({
    host: '127.0.0.1',
    port,
    user: SERVER_USER,
    password: folder.password,
    database: 'postgres',
    application_name: applicationName,
    ssl: false,
    connectionTimeoutMillis: 10_000,
  });
  // Ignores the event `error`, because the event `end` reports a lost connection. Without a listener for `error`, a
  // lost connection would stop the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return client;
  } catch (error) {
    await client.end().catch(() => undefined);
    throw error;
  }
}

/** Returns whether the error comes from a server that starts, stops, crashes or is full, or from a lost connection. */
export function isTemporary(error: unknown): boolean {
  const code = errorCode(error);
  if (code === undefined)
    return error instanceof Error && /terminated|timeout|not queryable|closed/i.test(error.message);
  return /^(57P0[1-5]|08...|53300|ECONN[A-Z]+|EPIPE|ETIMEDOUT)$/.test(code);
}

async function tryLock(client: pg.Client, lock: number): Promise<boolean> {
  const { rows } = await client.query('select pg_try_advisory_lock($1, $2) as granted', [LOCK_SPACE, lock]);
  return rows[0]?.granted === true;
}

/** Takes the locks. Returns undefined on success, otherwise the description of the service that holds the folder. */
export async function takeLocks(client: pg.Client, role: Role): Promise<string | undefined> {
  // If the last process is just stopping the server, this waits and then fails together with the connection.
  await client.query('select pg_advisory_lock_shared($1, $2)', [LOCK_SPACE, USERS_LOCK]);
  if (role === 'tool' || (await tryLock(client, SERVICE_LOCK))) return undefined;
  const { rows } = await client.query<{ name: string }>(
    `select a.application_name as name
       from pg_locks l join pg_stat_activity a on a.pid = l.pid
      where l.locktype = 'advisory' and l.classid = $1 and l.objid = $2 and l.objsubid = 2 and l.granted`,
    [LOCK_SPACE, SERVICE_LOCK],
  );
  return rows[0]?.name.replace(/^perennial service /, '') ?? 'a service that is just ending';
}

/** Releases the locks. Returns true if no other process uses the server; the caller then stops it. */
export async function releaseLocks(client: pg.Client): Promise<boolean> {
  await client.query('select pg_advisory_unlock_all()');
  return tryLock(client, USERS_LOCK);
}

export async function ensureDatabase(client: pg.Client): Promise<void> {
  const { rowCount } = await client.query('select from pg_database where datname = $1', [DATABASE]);
  if (rowCount !== 0) return;
  await client.query(`create database ${DATABASE}`).catch((error: unknown) => {
    // Another process created the database first. PostgreSQL reports the existing name or, in a race, the unique index.
    if (errorCode(error) !== '42P04' && errorCode(error) !== '23505') throw error;
  });
}
