import dns from 'node:dns';
import { isIP } from 'node:net';
import { isPublicAddress } from '../channels/public-address.js';

/** The address is not one on the public internet, or does not exist. */
export class ForbiddenAddress extends Error {}

export interface AddressRules {
  /** http and https to localhost and 127.0.0.1 are taken too: a sandbox on its embedded database. */
  readonly local: boolean;
}

export type Resolve = (host: string) => Promise<readonly string[]>;

const THIS_MACHINE = new Set(['localhost', '127.0.0.1']);

/**
 * Where to connect to, decided anew for each connection: a name that was harmless when it was registered may lead inside by
 * now. The connection is made to the very address that was judged. A name with one forbidden address is forbidden, since
 * whoever controls it can choose which one is asked for next.
 */
export async function connectAddress(url: URL, rules: AddressRules, resolve: Resolve = systemResolve): Promise<string> {
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const here = rules.local && THIS_MACHINE.has(host);
  if (url.protocol !== 'https:' && !(here && url.protocol === 'http:')) throw new ForbiddenAddress('not https');
  if (here) return '127.0.0.1';
  const addresses = isIP(host) === 0 ? await resolve(host) : [host];
  const [first] = addresses;
  if (first === undefined) throw new ForbiddenAddress('the name has no address');
  if (!addresses.every(isPublicAddress)) throw new ForbiddenAddress('not an address on the public internet');
  return first;
}

async function systemResolve(host: string): Promise<string[]> {
  const found = await dns.promises.lookup(host, { all: true, order: 'verbatim' });
  return found.map(({ address }) => address);
}
