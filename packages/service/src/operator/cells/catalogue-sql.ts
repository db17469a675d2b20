import { columns, declareRequire, type Queryable } from '../../platform/db/database.js';
import { BASELINE } from '../../platform/schema/migration-file.js';

interface CatalogueTable {
  readonly table: string;
  /** SQL: what identifies a row. */
  readonly key: string;
  /** Columns that may differ between cells. Wrapped keys always do, and are compared in another way. */
  readonly ignored: string;
}

/** Tables that are the same in all cells, parents first. `pool_codes` is not among them: a code is given away once. */
export const CATALOGUE: readonly CatalogueTable[] = [
  { table: 'images', key: 'image_hash', ignored: '{stored_at,bytes}' },
  { table: 'products', key: 'product_code', ignored: '{created_at}' },
  { table: 'product_benefits', key: `product_code || ' ' || benefit_code`, ignored: '{}' },
  { table: 'payment_channels', key: 'code', ignored: '{created_at,gateway_key,debits_paused_at}' },
  { table: 'benefit_fulfilments', key: 'benefit_code', ignored: '{set_at,supplier_key}' },
  { table: 'benefit_presentations', key: 'benefit_code', ignored: '{}' },
];

export async function copyTable(from: Queryable, to: Queryable, table: string): Promise<void> {
  const [found] = await from.query<{ rows: string }>(
    `select coalesce(json_agg(t), '[]')::text as rows from ${table} t`,
  );
  await to.query(`insert into ${table} select * from json_populate_recordset(null::${table}, $1::json)`, [found?.rows]);
}

/** Returns a hash of each row of a table. */
export const hashRows = (db: Queryable, { table, key, ignored }: CatalogueTable) =>
  db.query<{ key: string; hash: string }>(
    `select (${key})::text as key, md5((to_jsonb(t) - $1::text[])::text) as hash from ${table} t`,
    [ignored],
  );

/** Ignores migrations before the baseline, because only some cells may have been created by them. */
export const readSchemaAndCurrency = declareRequire({
  text: `select (select string_agg(version::text, ',' order by version) from schema_migrations where version >= ${BASELINE})
       as schema, currency
     from installation`,
  parameters: [],
  columns: columns({ schema: 'text?', currency: 'text?' }),
});
