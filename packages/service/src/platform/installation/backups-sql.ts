import { columns, declareList, declareWrite } from '../db/database.js';

export const storeBackup = declareWrite({
  text: `insert into backups (way, made_at) values ('OTHER', now()) on conflict (way) do update set made_at = excluded.made_at`,
  parameters: [],
});

/**
 * Returns the age of the last reported backup and of the last archived WAL segment. Omits a kind that never happened,
 * the archive while the server does not archive, and the kind `COPY` of earlier versions.
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
