/** The minimum number of characters that count as a part of the key. A shorter text may equal a part by coincidence. */
const SHORTEST = 16;

/** Removes the key, and parts of it, from a text that the bridge sent, because a refusal may quote the key. */
export function blankKey(text: string, key: Uint8Array): string {
  const bytes = Buffer.from(key);
  const [base64, url, hex] = [bytes.toString('base64'), bytes.toString('base64url'), bytes.toString('hex')];
  return [base64, url, hex, hex.toUpperCase()].reduce(blankParts, text);
}

function blankParts(text: string, secret: string): string {
  let blanked = '';
  for (let at = 0; at < text.length; ) {
    const length = sharedLength(text, at, secret);
    blanked += length > 0 ? '…' : text[at];
    at += Math.max(length, 1);
  }
  return blanked;
}

/** Returns the number of characters from `at` on that are part of the secret, or 0 if they are too few. */
function sharedLength(text: string, at: number, secret: string): number {
  let length = SHORTEST;
  if (at + length > text.length || !secret.includes(text.slice(at, at + length))) return 0;
  while (at + length < text.length && secret.includes(text.slice(at, at + length + 1))) length += 1;
  return length;
}
