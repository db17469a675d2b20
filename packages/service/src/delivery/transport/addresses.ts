import dns from 'node:dns';
import { isIP } from 'node:net';
import { isPublicAddress } from '../../catalog/channels/public-address.js';
import { PUSH_DEADLINE_MS } from '../schedule.js';

/** The address is not on the public internet. */
export class ForbiddenAddress extends Error {}

export interface AddressRules {
  /** http and https to localhost and 127.0.0.1 are permitted too: for a sandbox on its embedded database. */
  readonly allowLocalhost: boolean;
}

/** Finds all IP addresses of a host name. */
export type ResolveName = (host: string) => Promise<readonly string[]>;

/** Of a name with many addresses, so many are tried until one can be connected to. */
const MAX_ADDRESSES_TRIED = 3;

/** Once addresses of one family are known, so long is waited for the other: some name servers never answer about IPv6. */
const OTHER_FAMILY_WAIT_MS = 200;

const LOCALHOST_ADDRESSES = new Map([
  ['localhost', ['127.0.0.1', '::1']],
  ['127.0.0.1', ['127.0.0.1']],
]);

/** The host name or IP address of a URL, as name servers and certificates write it. */
export const hostNameOf = (url: URL) => url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');

/**
 * The IP addresses to connect to. They are looked up and judged for each connection: a name that was harmless when it was
 * registered may lead to an internal address by now. The connection is made to the very address that was judged here. A
 * name with one forbidden address is forbidden as a whole, since whoever controls the name chooses which address comes next.
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
 * Asks the name servers only: the hosts file and the search domains of this machine lead to internal addresses. The lookup
 * of the operating system would also keep one of the process's few threads busy for as long as a name server is silent, so
 * that the name of one channel would delay all others.
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
