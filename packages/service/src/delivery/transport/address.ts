import dns from 'node:dns';
import { isIP } from 'node:net';
import { isPublicAddress } from '../../catalog/channels/public-address.js';
import { DEADLINE_MS } from '../schedule.js';

/** The address is not one on the public internet. */
export class ForbiddenAddress extends Error {}

export interface AddressRules {
  /** http and https to localhost and 127.0.0.1 are taken too: a sandbox on its embedded database. */
  readonly local: boolean;
}

/** All addresses that a name has. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** Of a name with many addresses, so many are tried until one can be connected to. */
const MOST_TRIED = 3;

/** Once one kind of address is there, so long is waited for the other: some name servers never answer about IPv6. */
const OTHER_KIND_MS = 200;

const THIS_MACHINE = new Map([
  ['localhost', ['127.0.0.1', '::1']],
  ['127.0.0.1', ['127.0.0.1']],
]);

/** The name or address in a URL as name servers and certificates have it. */
export const hostOf = (url: URL) => url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');

/**
 * Where to connect to, decided anew for each connection: a name that was harmless when it was registered may lead inside by
 * now. The connection is made to the very address that was judged. A name with one forbidden address is forbidden, since
 * whoever controls it can choose which one is asked for next.
 */
export async function connectAddresses(url: URL, rules: AddressRules, resolve: Resolve): Promise<readonly string[]> {
  const host = hostOf(url);
  const here = rules.local ? THIS_MACHINE.get(host) : undefined;
  if (url.protocol !== 'https:' && !(here && url.protocol === 'http:')) throw new ForbiddenAddress('not https');
  if (here) return here;
  const addresses = isIP(host) === 0 ? await resolve(host) : [host];
  if (addresses.length === 0) throw new ForbiddenAddress('the name has no address');
  if (!addresses.every(isPublicAddress)) throw new ForbiddenAddress('not an address on the public internet');
  return addresses.slice(0, MOST_TRIED);
}

/**
 * Asks the name servers, and them alone: what this machine has in its hosts file, or finds in its search domains, leads
 * inside. The system's own lookup would also keep one of the process's few threads busy for as long as a name server is
 * silent, and so let one channel's name hold up everybody's.
 */
export function dnsResolve(servers?: readonly string[]): Resolve {
  return async (host) => {
    const resolver = new dns.promises.Resolver({ timeout: 1_500, tries: 2 });
    if (servers) resolver.setServers(servers);
    const leaveOffAfter = (ms: number) => setTimeout(() => resolver.cancel(), ms);
    let late = leaveOffAfter(DEADLINE_MS);
    const hurry = (addresses: string[]) => {
      clearTimeout(late);
      late = leaveOffAfter(OTHER_KIND_MS);
      return addresses;
    };
    try {
      const [v4, v6] = await Promise.allSettled([
        resolver.resolve4(host).then(hurry),
        resolver.resolve6(host).then(hurry),
      ]);
      if (v4.status === 'rejected' && v6.status === 'rejected') throw v4.reason;
      return [v4, v6].flatMap((found) => (found.status === 'fulfilled' ? found.value : []));
    } finally {
      clearTimeout(late);
    }
  };
}
