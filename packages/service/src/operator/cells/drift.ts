import { createHash } from 'node:crypto';
import type { Queryable } from '../../platform/db/database.js';
import { findWrappedKeys, type KeyPlace } from '../../platform/installation/wrapped-keys-sql.js';
import { openStoredKey } from '../../platform/secrets/stored-keys.js';
import type { Vault } from '../../platform/secrets/vault.js';
import { CATALOGUE, hashRows, readSchemaAndCurrency } from './catalogue-sql.js';

/** Keys that are the same in all cells. Those of channels and operators are not. */
const SHARED_KEYS: readonly KeyPlace[] = ['keys of bridges', 'keys of suppliers', 'keys of the installation'];

/** What must be the same in all cells: a hash for each record, by table and key. Contains no secret. */
export type Catalogue = ReadonlyMap<string, string>;

export async function readCatalogue(db: Queryable, vault: Vault): Promise<Catalogue> {
  const found = new Map<string, string>();
  for (const one of CATALOGUE) {
    for (const { key, hash } of await hashRows(db, one)) found.set(`${one.table} ${key}`, hash);
  }
  for (const place of SHARED_KEYS) {
    for (const { id, wrapped, place: at } of await findWrappedKeys(db, place)) {
      const opened = await openStoredKey(db, vault, wrapped, at).catch(() => undefined);
      found.set(`${place}: ${id}`, opened ? createHash('sha256').update(opened).digest('hex') : 'cannot be opened');
    }
  }
  const { schema, currency } = await readSchemaAndCurrency(db);
  found.set('schema', schema ?? '');
  found.set('currency', currency ?? '');
  return found;
}

export interface Drift {
  readonly record: string;
  /** Cells that lack the record. */
  readonly missingIn: readonly number[];
  /** Cells whose record differs from that of the lowest cell that has it. */
  readonly differsIn: readonly number[];
}

/** Returns the records that are not the same in all cells. */
export function findDrift(cells: readonly { readonly cell: number; readonly result: Catalogue }[]): Drift[] {
  const records = new Set(cells.flatMap(({ result }) => [...result.keys()]));
  return [...records].toSorted().flatMap((record) => {
    const model = cells.find(({ result }) => result.has(record))?.result.get(record);
    const having = cells.filter(({ result }) => result.has(record));
    const missingIn = cells.filter((one) => !having.includes(one)).map(({ cell }) => cell);
    const differsIn = having.filter(({ result }) => result.get(record) !== model).map(({ cell }) => cell);
    return missingIn.length + differsIn.length === 0 ? [] : [{ record, missingIn, differsIn }];
  });
}
