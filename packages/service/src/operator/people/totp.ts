import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** Six-digit codes that change every 30 s (RFC 6238), as authenticator apps create them. */
const STEP_MS = 30_000;
const DIGITS = 6;
const SECRET_BYTES = 20;
/** The number of steps by which a code may be early or late, because clocks differ and typing takes time. */
const DRIFT = 1;

export const createTotpSecret = (): Uint8Array => randomBytes(SECRET_BYTES);

/** Returns the time step of a code, or undefined if the code is wrong or its step is not later than `lastStep`. */
export function findTotpStep(secret: Uint8Array, code: string, now: number, lastStep: number): number | undefined {
  const given = Buffer.from(code.replace(/\s/g, ''));
  if (given.length !== DIGITS) return undefined;
  const current = Math.floor(now / STEP_MS);
  for (let step = current - DRIFT; step <= current + DRIFT; step += 1) {
    if (step > lastStep && timingSafeEqual(given, Buffer.from(totpCode(secret, step)))) return step;
  }
  return undefined;
}

export const totpStep = (now: number): number => Math.floor(now / STEP_MS);

export function totpCode(secret: Uint8Array, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const digest = createHmac('sha1', secret).update(counter).digest();
  const place = (digest[digest.length - 1] ?? 0) & 0xf;
  const number = (digest.readUInt32BE(place) & 0x7fffffff) % 10 ** DIGITS;
  return String(number).padStart(DIGITS, '0');
}

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Returns the secret in base32, to type into an app. */
export function totpSecretText(secret: Uint8Array): string {
  let bits = '';
  for (const byte of secret) bits += byte.toString(2).padStart(8, '0');
  return (bits.match(/.{1,5}/g) ?? []).map((five) => BASE32[Number.parseInt(five.padEnd(5, '0'), 2)]).join('');
}

/** Returns the URI that a QR code for authenticator apps contains. */
export function totpUri(secret: Uint8Array, name: string, environment: string): string {
  const issuer = environment === 'production' ? 'Perennial' : 'Perennial sandbox';
  const label = encodeURIComponent(`${issuer}:${name}`);
  return `otpauth://totp/${label}?secret=${totpSecretText(secret)}&issuer=${encodeURIComponent(issuer)}`;
}
