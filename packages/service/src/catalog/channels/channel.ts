import { BlockList, isIP } from 'node:net';
import type { EncryptionVersion } from '@perennial/wire/enums';
import type { Branding } from './branding.js';
import type { FieldFailures } from './field-failures.js';
import type { Sealing } from './sealing.js';

/** A channel as a node has it in memory, with its secrets decrypted. Valid for one version of its row. */
export interface Channel {
  readonly channelId: number;
  readonly appId: string;
  readonly version: number;
  readonly suspended: boolean;
  readonly tokenEpoch: number;
  readonly appSecret: Uint8Array;
  /** The one before: signatures under it are taken until then, in Unix milliseconds, which in the sandbox may be long past. */
  readonly formerAppSecret: { readonly secret: Uint8Array; readonly until: number } | undefined;
  readonly aesKey: Uint8Array;
  readonly callbackSecret: Uint8Array;
  readonly voidedPeriodEvents: boolean;
  /** The version of encrypted fields in events, and in answers to requests without encrypted fields. */
  readonly answerEncryption: EncryptionVersion;
  /** Whether it may still send fields in version 1, which are not authenticated. */
  readonly acceptsV1: boolean;
  /** Shared by all versions of the row: the count stays when a setting changes. */
  readonly fieldFailures: FieldFailures;
  /** Origins whose pages may show the redemption page in a frame. */
  readonly frameOrigins: readonly string[];
  /** The operators' name for it. */
  readonly name: string;
  readonly branding: Branding;
  /** Days before a planned debit on which a notice is sent. Undefined: none is. */
  readonly upcomingNoticeDays: number | undefined;
  readonly sealing: Sealing;
  /** Every address is allowed when the channel has no list. */
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
  // BlockList reads ::ffff:a.b.c.d as IPv4, which is what a dual-stack socket reports. A socket whose client has gone reports
  // no address.
  return (address) => isIP(address) !== 0 && list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}
