import type { Channel } from '../../../catalog/channels/channel.js';
import type { Sealing } from '../../../catalog/channels/sealing.js';

/** A code as the table `claims` stores it. */
export interface StoredCode {
  /** Sealed. */
  readonly code: string;
  /** Keyed, for the search. */
  readonly codeHash: Buffer;
}

/**
 * The context with which a claim's code is encrypted, so that the encrypted code is unreadable in a different claim.
 */
export const claimCodePlace = (claimNo: string) => `code of claim ${claimNo}`;

export function sealClaimCode({ sealing }: Pick<Channel, 'sealing'>, claimNo: string, code: string): StoredCode {
  return { code: sealing.seal(code, claimCodePlace(claimNo)), codeHash: hashClaimCode(sealing, code) };
}

export function unsealClaimCode({ sealing }: Pick<Channel, 'sealing'>, claimNo: string, sealed: string): string {
  return sealing.unseal(sealed, claimCodePlace(claimNo));
}

/** Truncated, because the index has an entry for each claim. Two codes have the same 64 bits practically never. */
const HASH_BYTES = 8;

export function hashClaimCode(sealing: Pick<Sealing, 'hash'>, code: string): Buffer {
  return sealing.hash(code, 'claim code').subarray(0, HASH_BYTES);
}
