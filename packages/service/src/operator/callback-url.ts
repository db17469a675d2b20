import { BlockList, isIP } from 'node:net';

/** What a callback address may be, decided without any lookup. Names are judged again at each connection. */
const MOST_CHARACTERS = 1024;

const CLOSED_V4 = [
  '0.0.0.0/8', // "this host"
  '10.0.0.0/8',
  '100.64.0.0/10', // carrier NAT, and one cloud's metadata
  '127.0.0.0/8',
  '168.63.129.16/32', // metadata of another cloud, on a public address
  '169.254.0.0/16', // link-local, metadata of most clouds
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15', // benchmarks inside a network
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, broadcast
];
/** Ways to write an IPv4 address, or to tunnel to one, inside what is otherwise public IPv6. */
const CLOSED_V6 = ['2001::/32', '2002::/16'];
const PUBLIC_V6 = '2000::/3';

const closed = blockList(CLOSED_V4, 'ipv4');
const closedV6 = blockList(CLOSED_V6, 'ipv6');
const publicV6 = blockList([PUBLIC_V6], 'ipv6');

/** An address of the public internet: not private, loopback, link-local, metadata or an IPv4 address in disguise. */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 4) return !closed.check(address, 'ipv4');
  return isIP(address) === 6 && publicV6.check(address, 'ipv6') && !closedV6.check(address, 'ipv6');
}

const PRIVATE_NAME = /(^|\.)(localhost|local|internal)$/;
const THIS_MACHINE = new Set(['localhost', '127.0.0.1']);

export interface CallbackUrlRules {
  /** Also take http and https to localhost and 127.0.0.1. */
  readonly local: boolean;
}

/** The address as it is stored, or in one line why it is refused. */
export function checkCallbackUrl(text: string, { local }: CallbackUrlRules): { url: string } | { refusal: string } {
  if (text.length > MOST_CHARACTERS) return { refusal: `it has more than ${MOST_CHARACTERS} characters` };
  // The URL parser would quietly drop these.
  if (/[\s\p{Cc}]/u.test(text)) return { refusal: 'it holds white space or control characters' };
  if (!URL.canParse(text)) return { refusal: 'it is not a complete address such as https://example.com/callback' };
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return { refusal: 'it holds a user name or password' };
  if (text.includes('#')) return { refusal: 'it holds a fragment (#)' };
  // A webhook's signature covers the path and says that there is no query.
  if (text.includes('?')) return { refusal: 'it holds a query (?)' };
  // Numbers in any spelling (0x7f.1, 2130706433) have become dotted by now.
  const host = url.hostname.replace(/\.$/, '');
  const here = local && THIS_MACHINE.has(host);
  if (url.protocol !== 'https:' && !(here && url.protocol === 'http:'))
    return { refusal: 'it must start with https://' };
  if (here) return { url: url.href };
  const address = host.startsWith('[') ? host.slice(1, -1) : host;
  if (isIP(address) !== 0 ? !isPublicAddress(address) : PRIVATE_NAME.test(address)) {
    return { refusal: `${host} is not an address on the public internet` };
  }
  return { url: url.href };
}

function blockList(ranges: readonly string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [network = '', bits] = range.split('/');
    list.addSubnet(network, Number(bits), family);
  }
  return list;
}
