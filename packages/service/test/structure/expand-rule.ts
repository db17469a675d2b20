/**
 * The expand rule: while nodes of the previous release run, a migration may only add to the schema
 * (docs/decisions/0026-upgrades.md). Migrations that remove something are contracts, which wait until those nodes have
 * stopped. Neither kind may hold a table lock for long.
 */
import { type Migration, splitStatements } from '../../src/platform/schema/migration-file.js';

/** Tables with few rows, so that any change to them is fast. */
const SMALL_TABLES = new Set([
  ...[
    'installation',
    'channels',
    'callback_urls',
    'products',
    'product_benefits',
    'channel_products',
    'payment_channels',
  ],
  ...['channel_payment_channels', 'look_up_keys', 'alerts', 'debit_paces', 'reconciliations', 'job_marks'],
  ...['delivery_nodes', 'delivery_shards', 'delivery_pauses', 'benefit_fulfilments'],
]);

/** Returns one line for each violation of the expand rule. */
export function violationsOf(migration: Migration): string[] {
  const inTransaction = splitStatements(migration.sql);
  const all = [...inTransaction, ...migration.afterwards].map(simple);
  const created = new Set(
    all.flatMap((one) => /^create (?:unlogged )?table (?:if not exists )?(\w+)/.exec(one)?.[1] ?? []),
  );
  const isFree = (table: string | undefined) => table !== undefined && (created.has(table) || SMALL_TABLES.has(table));
  const findings = new Set<string>();
  const find = (what: string, one: string) => findings.add(`${what}: ${one.slice(0, 80)}`);

  for (const one of all) {
    const table = /^(?:alter table|update|delete from|truncate|lock table)(?: if exists)?(?: only)? (\w+)/.exec(
      one,
    )?.[1];
    const isExisting = !created.has(table ?? '');
    if (!migration.isContract && isExisting) {
      if (/^drop |\bdrop (column|default|not null)/.test(one)) find('takes away', one);
      if (/\brename\b/.test(one)) find('renames', one);
      if (/\balter (column )?\w+ (set data )?type\b/.test(one)) find('changes a type', one);
      if (/\bset not null\b/.test(one)) find('demands a value that older nodes do not write', one);
      if (added(one).some((column) => /\bnot null\b/.test(column) && !/\bdefault\b/.test(column))) {
        find('adds a column that older nodes leave empty', one);
      }
      const dropped = /\bdrop constraint (?:if exists )?(\w+)/.exec(one)?.[1];
      if (dropped !== undefined && !all.some((other) => other.includes(`add constraint ${dropped} `))) {
        find('takes away', one);
      }
      if (/^create unique index concurrently\b/.test(one)) find('demands what older nodes may break', one);
    }
    if (isExisting && !isFree(table)) {
      if (/\badd constraint\b/.test(one) && !/\bnot valid$/.test(one)) find('reads a whole table under its lock', one);
      if (/\bset not null\b/.test(one)) find('reads a whole table under its lock', one);
      if (/\badd column [^,]*\bdefault (?:clock_timestamp|random|gen_random_uuid|nextval)\b/.test(one)) {
        find('rewrites a whole table', one);
      }
    }
    const indexed = /^create (?:unique )?index (concurrently )?(?:if not exists )?(?:\w+ )?on (?:only )?(\w+)/.exec(
      one,
    );
    if (indexed && !indexed[1] && !isFree(indexed[2])) find('locks out writers while an index is built', one);
  }
  for (const one of inTransaction.map(simple)) {
    const written = /^(?:update|delete from|truncate|lock table) (\w+)/.exec(one)?.[1];
    if (written !== undefined && !isFree(written)) find('changes many rows in one transaction', one);
    if (/ concurrently /.test(one)) find('cannot be in a transaction', one);
  }
  return [...findings];
}

/** Returns the statement on one line in lower case. Leaves out dollar-quoted bodies, so they are not checked. */
function simple(statement: string): string {
  return statement
    .replace(/\$(\w*)\$.*?\$\1\$/gs, '$$$$')
    .replace(/\s+/g, ' ')
    .toLowerCase();
}

/** Returns the column definitions that a statement adds. */
function added(one: string): string[] {
  const parts = one.split(/,(?![^(]*\))/);
  return parts.filter((part) => /\badd (?!constraint\b)/.test(part));
}
