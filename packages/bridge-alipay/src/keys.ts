import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';

/**
 * Reads a key as Alipay's tools write it: PEM or single-line base64, PKCS #8 or PKCS #1. Returns it in the format that
 * the SDK needs. Error messages do not quote the key.
 */
export function readPrivateKey(text: string): string {
  const key = firstThatReads([
    () => createPrivateKey(text),
    () => createPrivateKey({ key: toDer(text), format: 'der', type: 'pkcs8' }),
    () => createPrivateKey({ key: toDer(text), format: 'der', type: 'pkcs1' }),
  ]);
  if (key?.asymmetricKeyType !== 'rsa') throw new Error('not an RSA private key in PEM or base64');
  requireLength(key);
  return key.export({ format: 'pem', type: 'pkcs8' }).toString();
}

export function readPublicKey(text: string): string {
  if (/PRIVATE KEY/.test(text)) throw new Error('a private key, but Alipay’s public key is required');
  const key = firstThatReads([
    () => createPublicKey(text),
    () => createPublicKey({ key: toDer(text), format: 'der', type: 'spki' }),
  ]);
  if (key?.asymmetricKeyType !== 'rsa') throw new Error('not an RSA public key in PEM or base64');
  requireLength(key);
  return key.export({ format: 'pem', type: 'spki' }).toString();
}

/** Returns the public key of a private key. */
export const publicHalfOf = (privateKey: string) =>
  createPublicKey(privateKey).export({ format: 'pem', type: 'spki' }).toString();

/** RSA2, Alipay's name for SHA-256 with RSA, needs at least 2048 bits. Shorter keys can be broken. */
const LEAST_BITS = 2048;

function requireLength({ asymmetricKeyDetails }: KeyObject): void {
  const bits = asymmetricKeyDetails?.modulusLength ?? 0;
  if (bits < LEAST_BITS) throw new Error(`the key has ${bits} bits, but needs at least ${LEAST_BITS}`);
}

const toDer = (text: string) => Buffer.from(text.replace(/\s/g, ''), 'base64');

function firstThatReads(readers: readonly (() => KeyObject)[]): KeyObject | undefined {
  for (const read of readers) {
    try {
      return read();
    } catch {
      // Tries the next reader.
    }
  }
  return undefined;
}
