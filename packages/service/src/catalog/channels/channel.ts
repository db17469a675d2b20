import { BlockList, isIP } from 'node:net';
import type { EncryptionVersion } from '@perennial/wire/enums';
import type { Branding } from './branding.js';
import type { FieldFailures } from './field-failures.js';
import type { Sealing } from './sealing.js';

/** A channel in a node's memory, with its secrets decrypted. Valid for one version of its row. */
export interface Channel {
  readonly channelId: number;
  readonly appId: string;
  readonly version: number;
  readonly suspended: boolean;
  readonly tokenEpoch: number;
  readonly appSecret: Uint8Array;
  /**
   * The former app secret, accepted until the time `until` in Unix milliseconds. In the sandbox that time may be long
   * ago.
   */
  readonly formerAppSecret: { readonly secret: Uint8Array; readonly until: number } | undefined;
  readonly aesKey: Uint8Array;
  readonly callbackSecret: Uint8Array;
  readonly voidedPeriodEvents: boolean;
  /** The version of encrypted fields in events, and in answers to requests without encrypted fields. */
  readonly answerEncryption: EncryptionVersion;
  /** True if the channel may still send fields in version 1, which are not authenticated. */
  readonly acceptsV1: boolean;
  /**
   * The count of unreadable fields. All versions of the channel's row share it, so that it survives a change of
   * settings.
   */
  readonly fieldFailures: FieldFailures;
  /** Origins whose pages may show the redemption page in a frame. */
  readonly frameOrigins: readonly string[];
  /** The operators' name for the channel. */
  readonly name: string;
  readonly branding: Branding;
  /** How many days before a planned debit its notice is sent. If undefined, no notice is sent. */
  readonly upcomingNoticeDays: number | undefined;
  readonly sealing: Sealing;
  /** Returns true for every address if the channel has no IP allow list. */
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
  // BlockList treats ::ffff:a.b.c.d, an address of a dual-stack socket, as IPv4. A disconnected socket has no IP
  // address and is refused.
  return (address) => isIP(address) !== 0 && list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}
