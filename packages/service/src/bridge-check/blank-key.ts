/** So much of a key is no chance any more. */
const SHORTEST = 16;

/** Takes the key out of a text from outside, as it is or in part: a bridge may say in a refusal which one it knows. */
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

/** How many characters from here on are a part of the secret; 0 if they are too few. */
function sharedLength(text: string, at: number, secret: string): number {
  let length = SHORTEST;
  if (at + length > text.length || !secret.includes(text.slice(at, at + length))) return 0;
  while (at + length < text.length && secret.includes(text.slice(at, at + length + 1))) length += 1;
  return length;
}
