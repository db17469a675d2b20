import { columns, declareList, declareWrite } from '../db/database.js';

export const storeBackup = declareWrite({
  text: `insert into backups (way, made_at) values ('OTHER', now()) on conflict (way) do update set made_at = excluded.made_at`,
  parameters: [],
});

/**
 * Returns the age of the last reported backup and of the last archived WAL segment. Omits the backup if none was ever
 * reported. Omits the segment if none was ever archived, or if archiving is off. Ignores backups of the kind `COPY`,
 * which earlier versions recorded.
 */
export const readBackupAges = declareList({
  text: `select lower(way) as way, extract(epoch from now() - made_at)::double precision as seconds from backups
     where way = 'OTHER'
     union all
     select 'archive', extract(epoch from now() - last_archived_time)::double precision from pg_stat_archiver
     where last_archived_time is not null and current_setting('archive_mode') <> 'off'`,
  parameters: [],
  columns: columns({ way: 'text', seconds: 'double precision' }),
});
