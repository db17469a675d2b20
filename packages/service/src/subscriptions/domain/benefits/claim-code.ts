import type { Channel } from '../../../catalog/channels/channel.js';

/**
 * The context with which a claim's code is encrypted, so that the encrypted code is unreadable in a different claim.
 */
export const claimCodePlace = (claimNo: string) => `code of claim ${claimNo}`;

export function sealClaimCode({ sealing }: Pick<Channel, 'sealing'>, claimNo: string, code: string): string {
  return sealing.seal(code, claimCodePlace(claimNo));
}

export function unsealClaimCode({ sealing }: Pick<Channel, 'sealing'>, claimNo: string, sealed: string): string {
  return sealing.unseal(sealed, claimCodePlace(claimNo));
}
