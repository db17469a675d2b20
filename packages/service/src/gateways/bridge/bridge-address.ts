import { PlainError } from '../../platform/plain-error.js';

/** Parses the address of a bridge. The name of an operation is appended to its path. */
export function parseBridgeAddress(text: string): URL {
  const wrong = 'the address of a bridge must start with http:// or https:// and have no user, query or fragment';
  if (!URL.canParse(text)) throw new PlainError(wrong);
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new PlainError(wrong);
  if (`${url.username}${url.password}${url.search}${url.hash}` !== '') throw new PlainError(wrong);
  return url;
}
