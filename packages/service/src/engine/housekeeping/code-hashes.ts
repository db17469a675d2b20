import type { Channel } from '../../catalog/channels/channel.js';
import type { ChannelRegistry } from '../../catalog/channels/channel-registry.js';
import type { Database } from '../../platform/db/database.js';
import { MisplacedKey } from '../../platform/secrets/vault.js';
import { hashClaimCode, unsealClaimCode } from '../../subscriptions/domain/benefits/claim-code.js';
import { formatClaimNo } from '../../subscriptions/domain/benefits/claim-numbers.js';
import { listClaimsToHash, storeCodeHashes } from '../../subscriptions/store/benefits/claims-sql.js';
import { ROWS_PER_STEP, runInSteps } from './bounded-steps.js';

/**
 * Hashes codes that earlier releases have stored, so that the search finds them. Their index, `claims_to_hash`, has an
 * entry only for these claims: without them, a run is one look-up in an empty index.
 */
export const createCodeHashing = (database: Database, channels: ChannelRegistry) => () =>
  runInSteps(async () => {
    const claims = await listClaimsToHash(database, ROWS_PER_STEP);
    const channelsOf = new Map<number, Channel>();
    for (const { channelId } of claims) {
      if (!channelsOf.has(channelId)) channelsOf.set(channelId, await channels.getById(channelId));
    }
    const hashes = claims.map((claim) => {
      const channel = channelsOf.get(claim.channelId) as Channel;
      return hashClaimCode(channel.sealing, readCode(channel, formatClaimNo(claim), claim.code));
    });
    if (claims.length === 0) return 0;
    await storeCodeHashes(
      database,
      claims.map(({ orderNo }) => orderNo),
      claims.map(({ cycleNo }) => cycleNo),
      claims.map(({ position }) => position),
      claims.map(({ code }) => code),
      hashes,
    );
    return claims.length;
  });

/** Returns the sealed text itself if no key opens it. Its hash is never searched for, and the claim is not read again. */
function readCode(channel: Channel, claimNo: string, sealed: string): string {
  try {
    return unsealClaimCode(channel, claimNo, sealed);
  } catch (error) {
    if (error instanceof MisplacedKey) return sealed;
    throw error;
  }
}
