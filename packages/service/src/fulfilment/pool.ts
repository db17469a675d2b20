import { type Sealing, sealing } from '../catalog/channels/sealing.js';
import type { Queryable } from '../platform/db/database.js';
import { readOrCreateInstallationKey } from '../platform/secrets/keyed-hasher.js';
import type { Vault } from '../platform/secrets/vault.js';
import type { AtOnce } from './fulfilment.js';
import { type NewCode, takeCodes } from './pool-sql.js';

/** Codes that were bought beforehand. Until one is given away it belongs to no channel, so the key is a key of its own. */
export interface PoolCodes {
  sealed(benefitCode: string, code: string): NewCode;
  opened(benefitCode: string, sealed: string): string;
}

export async function poolCodes(db: Queryable, vault: Vault): Promise<PoolCodes> {
  const own: Sealing = sealing(await readOrCreateInstallationKey(db, vault, 'pool codes'));
  return {
    sealed: (benefitCode, code) => ({
      hash: own.hash(code, 'pool code'),
      sealed: own.seal(code, placeOf(benefitCode)),
    }),
    opened: (benefitCode, sealed) => own.unseal(sealed, placeOf(benefitCode)),
  };
}

const placeOf = (benefitCode: string) => `pool code of ${benefitCode}`;

export function pool(vault: Vault): AtOnce {
  let codes: PoolCodes | undefined;
  return {
    kind: 'POOL',
    async code(tx, { benefitCode, claimNo }) {
      const [taken] = await takeCodes(tx, benefitCode, [claimNo]);
      if (taken === undefined) return undefined;
      // Whoever imported the code has made the key, so it is there to stay whatever becomes of this transaction.
      codes ??= await poolCodes(tx, vault);
      return codes.opened(benefitCode, taken.sealed);
    },
  };
}
