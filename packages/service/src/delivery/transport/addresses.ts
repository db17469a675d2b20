import dns from 'node:dns';
import { isIP } from 'node:net';
import { isPublicAddress } from '../../catalog/channels/public-address.js';
import { PUSH_DEADLINE_MS } from '../schedule.js';

/**
 * The address may not be used: it is not https, the look-up found no IP address, or an IP address is not public. A
 * look-up that fails throws another error.
 */
export class ForbiddenAddress extends Error {}

export interface AddressRules {
  /** Whether http and https to this machine are permitted too, for a sandbox on its embedded database. */
  readonly allowLocalhost: boolean;
}

/** Finds all IP addresses of a host name. */
export type ResolveName = (host: string) => Promise<readonly string[]>;

/** The maximum number of a name's IP addresses to which a push tries to connect. */
const MAX_ADDRESSES_TRIED = 3;

/**
 * Once the addresses of one family (IPv4 or IPv6) are found, the time to wait for the addresses of the other family.
 * Some name servers never answer for IPv6.
 */
const OTHER_FAMILY_WAIT_MS = 200;

const LOCALHOST_ADDRESSES = new Map([
  ['localhost', ['127.0.0.1', '::1']],
  ['127.0.0.1', ['127.0.0.1']],
  ['::1', ['::1']],
]);

/** Returns the host name or IP address of a URL as name servers and certificates write it. */
export const hostNameOf = (url: URL) => url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');

/**
 * Returns the IP addresses to connect to. Resolves and checks them for each connection, because a name that was
 * harmless when registered may now lead to an internal address. The caller must connect to exactly these addresses. One
 * forbidden address forbids the whole name, because the name's owner decides which address comes next.
 */
export async function findPermittedAddresses(
  url: URL,
  rules: AddressRules,
  resolveName: ResolveName,
): Promise<readonly string[]> {
  const host = hostNameOf(url);
  const localhost = rules.allowLocalhost ? LOCALHOST_ADDRESSES.get(host) : undefined;
  if (url.protocol !== 'https:' && !(localhost && url.protocol === 'http:')) throw new ForbiddenAddress('not https');
  if (localhost) return localhost;
  const addresses = isIP(host) === 0 ? await resolveName(host) : [host];
  if (addresses.length === 0) throw new ForbiddenAddress('the name has no address');
  if (!addresses.every(isPublicAddress)) throw new ForbiddenAddress('not an address on the public internet');
  return addresses.slice(0, MAX_ADDRESSES_TRIED);
}

/**
 * Creates a resolver that asks name servers only, because the hosts file and search domains of this machine may lead to
 * internal addresses. The operating system's lookup would also block one of the few libuv threads while a name server
 * is silent, so that the host name of one channel could delay all channels.
 */
export function createDnsResolver(servers?: readonly string[]): ResolveName {
  return async (host) => {
    const resolver = new dns.promises.Resolver({ timeout: 1_500, tries: 2 });
    if (servers) resolver.setServers(servers);
    const cancelAfter = (ms: number) => setTimeout(() => resolver.cancel(), ms);
    let cancelTimer = cancelAfter(PUSH_DEADLINE_MS);
    const waitShortlyForOtherFamily = (addresses: string[]) => {
      clearTimeout(cancelTimer);
      cancelTimer = cancelAfter(OTHER_FAMILY_WAIT_MS);
      return addresses;
    };
    try {
      const [v4, v6] = await Promise.allSettled([
        resolver.resolve4(host).then(waitShortlyForOtherFamily),
        resolver.resolve6(host).then(waitShortlyForOtherFamily),
      ]);
      if (v4.status === 'rejected' && v6.status === 'rejected') throw v4.reason;
      return [v4, v6].flatMap((found) => (found.status === 'fulfilled' ? found.value : []));
    } finally {
      clearTimeout(cancelTimer);
    }
  };
}
