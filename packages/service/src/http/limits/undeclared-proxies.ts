import type { FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { createAddressCheck } from '../../catalog/channels/channel.js';

/** Anybody can send these headers: a few lines tell an operator as much as many. */
const MAX_WARNINGS = 16;
const MAX_REMEMBERED = 1000;

/**
 * A proxy that is not in TRUSTED_PROXIES hides its callers: allow-lists and limits then see the address of the proxy. Its
 * forwarding header shows that it is a proxy.
 */
export function createUndeclaredProxyWarning(
  trustedProxies: readonly string[],
  log: Logger,
): (request: FastifyRequest) => void {
  const isOnList = createAddressCheck(trustedProxies);
  /** Addresses that are no undeclared proxy, or were warned about. */
  const handledPeers = new Set<string>();
  let warnings = 0;
  return ({ headers, socket: { remoteAddress: peer } }) => {
    if (headers['x-forwarded-for'] === undefined && headers.forwarded === undefined) return;
    if (peer === undefined || handledPeers.has(peer) || warnings === MAX_WARNINGS) return;
    if (handledPeers.size < MAX_REMEMBERED) handledPeers.add(peer);
    // An empty list of proxies trusts nobody.
    if (trustedProxies.length > 0 && isOnList(peer)) return;
    warnings += 1;
    log.warn(
      { peer },
      'X-Forwarded-For or Forwarded comes from an address that is not in TRUSTED_PROXIES and is ignored: ' +
        'if this is a proxy of yours, all of its callers count as one address',
    );
  };
}
