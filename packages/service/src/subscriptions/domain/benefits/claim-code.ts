import type { Channel } from '../../../catalog/channels/channel.js';

/** A claim's code at rest is sealed like other things of the channel's users, for this claim alone. */
const claimCodePlace = (claimNo: string) => `code of claim ${claimNo}`;

export function sealClaimCode({ sealing }: Pick<Channel, 'sealing'>, claimNo: string, code: string): string {
  return sealing.seal(code, claimCodePlace(claimNo));
}

export function unsealClaimCode({ sealing }: Pick<Channel, 'sealing'>, claimNo: string, sealed: string): string {
  return sealing.unseal(sealed, claimCodePlace(claimNo));
}
