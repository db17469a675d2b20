import { BlockList, isIP } from 'node:net';
import type { EncryptionVersion } from '@perennial/wire/enums';
import type { FieldFailures } from './field-failures.js';
import type { Sealing } from './sealing.js';

/** A channel as a node holds it in memory: secrets opened, lists ready to ask. Valid for one version of its row. */
export interface Channel {
  readonly channelId: number;
  readonly appId: string;
  readonly version: number;
  readonly suspended: boolean;
  readonly tokenEpoch: number;
  readonly appSecret: Uint8Array;
  readonly aesKey: Uint8Array;
  readonly callbackSecret: Uint8Array;
  readonly voidedPeriodEvents: boolean;
  /** Of encrypted fields in events, and in answers to requests that have none to go by. */
  readonly answerEncryption: EncryptionVersion;
  /** Whether it may still send encrypted fields that nothing authenticates. */
  readonly acceptsV1: boolean;
  /** Not of one version of the row: what happened stays when a setting changes. */
  readonly fieldFailures: FieldFailures;
  /** Whose pages may hold the redemption page in a frame. */
  readonly frameOrigins: readonly string[];
  readonly sealing: Sealing;
  /** Empty list: everybody is allowed. */
  allowsAddress(address: string): boolean;
}

export function createAddressCheck(ranges: readonly string[]): (address: string) => boolean {
  if (ranges.length === 0) return () => true;
  const list = new BlockList();
  for (const range of ranges) {
    const [network = '', bits] = range.split('/');
    const family = isIP(network) === 6 ? 'ipv6' : 'ipv4';
    list.addSubnet(network, bits === undefined ? (family === 'ipv6' ? 128 : 32) : Number(bits), family);
  }
  // BlockList reads ::ffff:a.b.c.d as IPv4, which is what a dual-stack socket reports. One whose client has gone reports
  // nothing.
  return (address) => isIP(address) !== 0 && list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}
