import type { Channel } from '../../../catalog/channels/channel.js';
import { createChannelRegistry } from '../../../catalog/channels/channel-registry.js';
import { openPoolCodes } from '../../../fulfilment/pool-codes.js';
import { takePoolCodes } from '../../../fulfilment/pool-codes-sql.js';
import type { Queryable } from '../../../platform/db/database.js';
import type { Vault } from '../../../platform/secrets/vault.js';
import { sealClaimCode } from '../../domain/benefits/claim-code.js';
import { formatClaimNo, formatCodeNo } from '../../domain/benefits/claim-numbers.js';
import { lockClaimsWaitingForPool, storeClaimCodes, type WaitingClaim } from '../../store/benefits/claims-sql.js';

export const MAX_SERVED_CLAIMS = 500;

/** Assigns pool codes to waiting claims, oldest claim first. Returns the number of claims that got a code. */
export async function servePoolClaims(tx: Queryable, vault: Vault, benefitCode: string, at: number): Promise<number> {
  const waiting = new Map(
    (await lockClaimsWaitingForPool(tx, benefitCode, MAX_SERVED_CLAIMS)).map((one) => [formatCodeNo(one), one]),
  );
  if (waiting.size === 0) return 0;
  const taken = await takePoolCodes(tx, benefitCode, [...waiting.keys()]);
  if (taken.length === 0) return 0;
  const codes = await openPoolCodes(tx, vault);
  const channels = await loadChannels(tx, vault, [...waiting.values()]);
  const served = taken.map(({ claimNo: codeNo, sealed }) => {
    const claim = waiting.get(codeNo);
    const channel = claim && channels.get(claim.channelId);
    if (!claim || !channel) throw new Error('a code is taken for a claim that waits');
    return { ...claim, ...sealClaimCode(channel, formatClaimNo(claim), codes.unseal(benefitCode, sealed)) };
  });
  await storeClaimCodes(tx, served, at);
  return served.length;
}

async function loadChannels(
  tx: Queryable,
  vault: Vault,
  claims: readonly WaitingClaim[],
): Promise<Map<number, Channel>> {
  const registry = createChannelRegistry(tx, vault);
  const channels = new Map<number, Channel>();
  for (const id of new Set(claims.map(({ channelId }) => channelId))) channels.set(id, await registry.getById(id));
  return channels;
}
