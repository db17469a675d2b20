import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { refusal } from '../../operator.js';
import { quoted, requireAtMost, requireUnique } from '../../rules.js';

const MAX_RANGES = 500;

/** Returns addresses and ranges in lower case, always with the prefix length. */
export function requireIpRanges(values: readonly string[]): string[] {
  requireAtMost('addresses in an IP list', values, MAX_RANGES);
  const ranges = values.map(requireIpRange);
  requireUnique('address', ranges);
  return ranges;
}

function requireIpRange(value: string): string {
  const [address = '', bits, ...rest] = value.split('/');
  const family = isIP(address);
  // Refuses a zone (fe80::1%eth0), which `isIP` accepts: it has no meaning on a different machine.
  if (family === 0 || address.includes('%') || rest.length > 0) {
    throw refusal('address-malformed')`${quoted(value)} is neither an IP address nor a range such as 203.0.113.0/24`;
  }
  const width = family === 6 ? 128 : 32;
  if (bits !== undefined && (!/^\d{1,3}$/.test(bits) || Number(bits) > width)) {
    throw refusal('prefix-malformed')`${quoted(value)}: the part after / must be a number from 0 to ${width}`;
  }
  const prefix = bits === undefined ? width : Number(bits);
  const parsed = ipaddr.parse(address);
  if (parsed instanceof ipaddr.IPv6 && parsed.isIPv4MappedAddress()) {
    throw refusal(
      'address-not-ipv4',
    )`${quoted(value)}: write it as an IPv4 address, because callers are compared in that form`;
  }
  const kind = family === 6 ? ipaddr.IPv6 : ipaddr.IPv4;
  const start = kind.networkAddressFromCIDR(`${address}/${prefix}`).toString();
  if (start !== parsed.toString()) {
    const range = `${start}/${prefix}`;
    throw refusal('range-not-at-start')`${quoted(value)} is not the start of a range. Did you mean ${range}?`;
  }
  return `${address.toLowerCase()}/${prefix}`;
}
