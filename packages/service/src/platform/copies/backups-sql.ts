import { columns, type Queryable, statement } from '../db/database.js';

/** `COPY`: by `perennial backup`. `OTHER`: by other means, which an operator has reported. */
export type BackupWay = 'COPY' | 'OTHER';

const STORE_BACKUP = statement({
  text: `insert into backups (way, made_at) values ($1, now()) on conflict (way) do update set made_at = excluded.made_at`,
  parameters: ['text'],
});

/** Stores that a backup was made just now. */
export async function storeBackup(db: Queryable, way: BackupWay): Promise<void> {
  await db.query(STORE_BACKUP, [way]);
}

export interface BackupAge {
  readonly way: string;
  readonly seconds: number;
}

/** The archive's age counts only while the server archives: after that nobody adds to it. */
const READ_BACKUP_AGES = statement({
  text: `select lower(way) as way, extract(epoch from now() - made_at)::double precision as seconds from backups
     union all
     select 'archive', extract(epoch from now() - last_archived_time)::double precision from pg_stat_archiver
     where last_archived_time is not null and current_setting('archive_mode') <> 'off'`,
  parameters: [],
  columns: columns<BackupAge>({ way: 'text', seconds: 'double precision' }),
});

/** How long ago the last backup of each kind was made, and the last part of the log archived. Kinds without any are left out. */
export async function readBackupAges(db: Queryable): Promise<BackupAge[]> {
  return db.query(READ_BACKUP_AGES);
}
