import { columnsOf, type Queryable, statement } from '../db/database.js';

const STORE_BACKUP = statement({
  text: `insert into backups (way, made_at) values ('OTHER', now()) on conflict (way) do update set made_at = excluded.made_at`,
  parameters: [],
});

/** Stores that a backup was made just now. */
export async function storeBackup(db: Queryable): Promise<void> {
  await db.query(STORE_BACKUP);
}

export interface BackupAge {
  readonly way: string;
  readonly seconds: number;
}

/**
 * The archive's age counts only while the server archives: after that nobody adds to it. Earlier versions made copies of
 * their own (`COPY`), whose age means nothing any more.
 */
const READ_BACKUP_AGES = statement({
  text: `select lower(way) as way, extract(epoch from now() - made_at)::double precision as seconds from backups
     where way = 'OTHER'
     union all
     select 'archive', extract(epoch from now() - last_archived_time)::double precision from pg_stat_archiver
     where last_archived_time is not null and current_setting('archive_mode') <> 'off'`,
  parameters: [],
  columns: columnsOf<BackupAge>({ way: 'text', seconds: 'double precision' }),
});

/** How long ago the last backup was reported, and the last part of the log archived. A kind without any is left out. */
export async function readBackupAges(db: Queryable): Promise<BackupAge[]> {
  return db.query(READ_BACKUP_AGES);
}
