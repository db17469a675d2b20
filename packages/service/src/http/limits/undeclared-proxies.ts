import type { FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { createAddressCheck } from '../../catalog/channels/channel.js';

/** The maximum number of warnings. There is a limit, because anybody can send forwarding headers. */
const MAX_WARNINGS = 16;
const MAX_REMEMBERED = 1000;

/**
 * Warns about forwarding headers from a proxy that is not in TRUSTED_PROXIES. Such a proxy hides its callers:
 * allow-lists and limits see the proxy's address.
 */
export function createUndeclaredProxyWarning(
  trustedProxies: readonly string[],
  log: Logger,
): (request: FastifyRequest) => void {
  const isOnList = createAddressCheck(trustedProxies);
  /** Addresses that are trusted, or about which a warning was logged. */
  const handledPeers = new Set<string>();
  let warnings = 0;
  return ({ headers, socket: { remoteAddress: peer } }) => {
    if (headers['x-forwarded-for'] === undefined && headers.forwarded === undefined) return;
    if (peer === undefined || handledPeers.has(peer) || warnings === MAX_WARNINGS) return;
    if (handledPeers.size < MAX_REMEMBERED) handledPeers.add(peer);
    // An empty list of proxies trusts no proxy.
    if (trustedProxies.length > 0 && isOnList(peer)) return;
    warnings += 1;
    log.warn(
      { peer },
      'Ignored X-Forwarded-For or Forwarded from an address that is not in TRUSTED_PROXIES. ' +
        'If it is your proxy, add it to TRUSTED_PROXIES; until then all of its callers count as one address',
    );
  };
}
