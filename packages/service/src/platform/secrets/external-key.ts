import { columns, declareFind, declareHas, type Queryable } from '../db/database.js';
import type { KeyService } from './key-service.js';

const lockWrappedMasterKey = declareFind({
  text: 'select wrapped_master_key as wrapped from installation for no key update',
  parameters: [],
  columns: columns({ wrapped: 'text?' }),
  value: ({ wrapped }) => wrapped,
});

const storeWrappedMasterKey = declareHas({
  text: `update installation set wrapped_master_key = $1 where wrapped_master_key is distinct from $1 returning 1`,
  parameters: ['text?'],
});

/**
 * Lets the key service wrap the master key again, under the service's newest key. Without a key service, deletes the
 * wrapped master key, because all keys are then under another master key. Returns true if something changed.
 */
export async function rewrapMasterKey(tx: Queryable, service: KeyService | undefined): Promise<boolean> {
  const wrapped = await lockWrappedMasterKey(tx);
  if (wrapped == null) return false;
  return storeWrappedMasterKey(tx, service && (await service.wrap(await service.unwrap(wrapped))));
}
