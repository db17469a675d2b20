import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Vault } from '../../platform/secrets/vault.js';

/**
 * Creates the cookie of a device. A device is a browser in which the operator has signed in. The cookie contains the
 * operator's id, a random number and a MAC. Failed attempts from a device are counted separately, so that strangers who
 * guess cannot lock the operator out. The cookie proves no identity, so it needs no revocation.
 */
export function createDevice(vault: Vault, personId: number): string {
  const device = `${personId}.${randomBytes(16).toString('base64url')}`;
  return `${device}.${signDevice(vault, device)[0]?.toString('base64url')}`;
}

/**
 * Returns the cookie without its MAC. Returns undefined if the cookie is absent or forged, or belongs to another
 * operator.
 */
export function readDevice(vault: Vault, cookie: string | undefined, personId: number): string | undefined {
  const [, device = '', mac = ''] = /^(\d+\.[\w-]{22})\.([\w-]{43})$/.exec(cookie ?? '') ?? [];
  const given = Buffer.from(mac, 'base64url');
  const isSigned = device !== '' && signDevice(vault, device).some((expected) => timingSafeEqual(expected, given));
  return isSigned && device.startsWith(`${personId}.`) ? device : undefined;
}

/** Returns the id of the operator whose device has this cookie. Returns undefined if it is absent or forged. */
export function findDeviceOwner(vault: Vault, cookie: string | undefined): number | undefined {
  const personId = Number.parseInt(cookie ?? '', 10);
  return readDevice(vault, cookie, personId) === undefined ? undefined : personId;
}

/** Returns the MAC under the current master key, followed by the MACs under previous master keys. */
const signDevice = (vault: Vault, device: string): Buffer[] =>
  vault.derivePurposeKeys('device cookies').map(({ key }) => createHmac('sha256', key).update(device).digest());
