import { createSealing } from '../catalog/channels/sealing.js';
import type { Queryable } from '../platform/db/database.js';
import { readOrCreateInstallationKey } from '../platform/secrets/keyed-hasher.js';
import type { Vault } from '../platform/secrets/vault.js';
import type { ImmediateFulfilment } from './fulfilment.js';
import { type NewPoolCode, takePoolCodes } from './pool-codes-sql.js';

/**
 * Seals and unseals codes that were bought in advance. The pool has its own key, because its codes belong to no channel
 * yet.
 */
export async function openPoolCodes(db: Queryable, vault: Vault) {
  const poolSealing = createSealing({ dataKey: await readOrCreateInstallationKey(db, vault, 'pool codes') });
  return {
    seal: (benefitCode: string, code: string): NewPoolCode => ({
      hash: poolSealing.hash(code, 'pool code'),
      sealed: poolSealing.seal(code, poolCodePlace(benefitCode)),
    }),
    unseal: (benefitCode: string, sealed: string) => poolSealing.unseal(sealed, poolCodePlace(benefitCode)),
  };
}

const poolCodePlace = (benefitCode: string) => `pool code of ${benefitCode}`;

export function createPoolFulfilment(vault: Vault): ImmediateFulfilment {
  let codes: Awaited<ReturnType<typeof openPoolCodes>> | undefined;
  return {
    kind: 'POOL',
    async takeCode(tx, { benefitCode, claimNo }) {
      const [taken] = await takePoolCodes(tx, benefitCode, [claimNo]);
      if (taken === undefined) return undefined;
      // Caching is safe even if this transaction is rolled back, because the key was already stored by the import.
      codes ??= await openPoolCodes(tx, vault);
      return codes.unseal(benefitCode, taken.sealed);
    },
  };
}
