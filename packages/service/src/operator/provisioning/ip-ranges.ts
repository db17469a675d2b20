import { isIP } from 'node:net';
import { OperatorError } from '../operator.js';
import { quoted, requireAtMost, requireUnique } from '../rules.js';

const MOST_RANGES = 500;

/** Addresses and CIDR ranges as PostgreSQL's cidr writes them: always with the number of network bits. */
export function requireIpRanges(values: readonly string[]): string[] {
  requireAtMost('addresses in an IP list', values, MOST_RANGES);
  const ranges = values.map(requireIpRange);
  requireUnique('address', ranges);
  return ranges;
}

function requireIpRange(value: string): string {
  const [address = '', bits, ...rest] = value.split('/');
  const family = isIP(address);
  // isIP takes a zone (fe80::1%eth0), which means nothing on another machine.
  if (family === 0 || address.includes('%') || rest.length > 0) {
    throw new OperatorError(`${quoted(value)} is neither an IP address nor a range such as 203.0.113.0/24`);
  }
  const width = family === 6 ? 128 : 32;
  if (bits !== undefined && (!/^\d{1,3}$/.test(bits) || Number(bits) > width)) {
    throw new OperatorError(`${quoted(value)}: the part after / must be a number from 0 to ${width}`);
  }
  const prefix = bits === undefined ? width : Number(bits);
  const number = family === 6 ? ipv6Number(address) : ipv4Number(address);
  if (family === 6 && number >> 32n === 0xffffn) {
    throw new OperatorError(`${quoted(value)}: write an IPv4 address as IPv4, callers are compared in that form`);
  }
  if (number & ((1n << BigInt(width - prefix)) - 1n)) {
    throw new OperatorError(
      `${quoted(value)} has bits set to the right of /${prefix}: it is not the start of that range`,
    );
  }
  return `${address.toLowerCase()}/${prefix}`;
}

function ipv4Number(address: string): bigint {
  return address.split('.').reduce((sum, part) => (sum << 8n) | BigInt(part), 0n);
}

function ipv6Number(address: string): bigint {
  // The URL parser knows every spelling and gives back the shortest, without a dotted tail.
  const shortest = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const [head = '', tail] = shortest.split('::');
  const front = head === '' ? [] : head.split(':');
  const back = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array<string>(8 - front.length - back.length).fill('0');
  return [...front, ...zeros, ...back].reduce((sum, part) => (sum << 16n) | BigInt(`0x${part}`), 0n);
}
