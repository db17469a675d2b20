import type { Logger } from 'pino';
import { openPeerKey, type PeerKeyDeps } from '../gateways/peer-key.js';
import type { Clock } from '../platform/clock.js';
import type { Queryable } from '../platform/db/database.js';
import type { PeerAccess } from '../platform/http-client/peer-access.js';
import { keyPlaces } from '../platform/secrets/stored-keys.js';
import type { Fulfilment, Supplier } from './fulfilment.js';
import { type FulfilmentRow, findFulfilment } from './fulfilment-settings-sql.js';
import { generatedFulfilment } from './generated-codes.js';
import { createPoolFulfilment } from './pool-codes.js';
import { type AttachedSupplier, createSupplier } from './supplier.js';

export interface FulfilmentDeps extends PeerKeyDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly peerAccess?: PeerAccess;
  /** Replaces the supplier's timeout in tests. */
  readonly deadlineMs?: number;
}

/** Finds the source of a benefit's codes. */
export interface Fulfilments {
  /** Returns the source in the benefit's current setting. Reads the setting in the transaction of the claim. */
  of(tx: Queryable, benefitCode: string): Promise<Fulfilment>;
  /** Returns the supplier for a claim that waits for it, even if the benefit now has a different source. */
  supplierOf(benefitCode: string): Promise<Supplier>;
  close(): Promise<void>;
}

/** Keeps one supplier per benefit, address and key, because a supplier holds connections. */
export function createFulfilmentRegistry(deps: FulfilmentDeps): Fulfilments {
  const { database, vault, clock, log, deadlineMs, peerAccess: peers } = deps;
  const suppliers = new Map<string, AttachedSupplier>();
  const fromPool = createPoolFulfilment(vault);

  async function findSupplier(db: Queryable, benefitCode: string, row: FulfilmentRow | undefined): Promise<Supplier> {
    const { supplierUrl: url = null, supplierKey: wrappedKey = null } = row ?? {};
    if (url === null || wrappedKey === null) throw new Error(`benefit ${benefitCode} has no supplier`);
    const name = `${benefitCode} ${url} ${wrappedKey}`;
    const known = suppliers.get(name);
    if (known) return known;
    const place = keyPlaces.supplier(benefitCode, url);
    const key = await openPeerKey(deps, { subject: benefitCode, url, wrappedKey, place }, db);
    // Another claim may have created the supplier meanwhile.
    const supplier =
      suppliers.get(name) ?? createSupplier({ url, key, clock, log, peers, ...(deadlineMs ? { deadlineMs } : {}) });
    suppliers.set(name, supplier);
    return supplier;
  }

  return {
    async of(tx, benefitCode) {
      const row = await findFulfilment(tx, benefitCode);
      if (row === undefined || row.kind === 'GENERATED') return generatedFulfilment;
      return row.kind === 'POOL' ? fromPool : findSupplier(tx, benefitCode, row);
    },
    async supplierOf(benefitCode) {
      return findSupplier(database, benefitCode, await findFulfilment(database, benefitCode));
    },
    async close() {
      await Promise.all([...suppliers.values()].map((one) => one.close()));
    },
  };
}
