import { columns, declareList, declareWrite } from '../db/database.js';

/** Stores that a backup was made just now. */
export const storeBackup = declareWrite({
  text: `insert into backups (way, made_at) values ('OTHER', now()) on conflict (way) do update set made_at = excluded.made_at`,
  parameters: [],
});

/**
 * The archive's age counts only while the server archives: after that nobody adds to it. Earlier versions made copies of
 * their own (`COPY`), whose age means nothing any more.
 */
/** How long ago the last backup was reported, and the last part of the log archived. A kind without any is left out. */
export const readBackupAges = declareList({
  text: `select lower(way) as way, extract(epoch from now() - made_at)::double precision as seconds from backups
     where way = 'OTHER'
     union all
     select 'archive', extract(epoch from now() - last_archived_time)::double precision from pg_stat_archiver
     where last_archived_time is not null and current_setting('archive_mode') <> 'off'`,
  parameters: [],
  columns: columns({ way: 'text', seconds: 'double precision' }),
});
