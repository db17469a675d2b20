import { BlockList, isIP } from 'node:net';

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
/** Parts of the public IPv6 range that serve special protocols. Some of them tunnel to an IPv4 address. */
const CLOSED_V6 = ['2001::/23', '2002::/16'];
const PUBLIC_V6 = '2000::/3';

const closedV4 = createBlockList(CLOSED_V4, 'ipv4');
const closedV6 = createBlockList(CLOSED_V6, 'ipv6');
const publicV6 = createBlockList([PUBLIC_V6], 'ipv6');

/**
 * Returns false for private, loopback, link-local, metadata, multicast and reserved addresses, and for IPv6 addresses
 * of tunnels to an IPv4 address.
 */
export function isPublicAddress(address: string): boolean {
  // An address with a zone (%eth0) is valid only on this machine.
  if (address.includes('%')) return false;
  if (isIP(address) === 4) return !closedV4.check(address, 'ipv4');
  return isIP(address) === 6 && publicV6.check(address, 'ipv6') && !closedV6.check(address, 'ipv6');
}

function createBlockList(ranges: readonly string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [network = '', bits] = range.split('/');
    list.addSubnet(network, Number(bits), family);
  }
  return list;
}
