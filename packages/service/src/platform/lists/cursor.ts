import { createHash } from 'node:crypto';
import { Rejection } from '@perennial/wire';

/** The sort key of a row, which also identifies the row. */
export type RowKey = readonly (number | string)[];

/** A list with its filters. A cursor is valid only for the question for which it was written. */
export interface ListQuestion {
  readonly endpoint: string;
  readonly channelId: number;
  /** The filter's values, decrypted, because the same card has a different ciphertext each time. */
  readonly filter: Readonly<Record<string, string | number | undefined>>;
}

/**
 * Returns a cursor: base64url of a JSON array with the endpoint, a digest of the question, and the key of the last row
 * shown. It contains only data that the channel knows, and grants no rights.
 */
export function writeCursor(question: ListQuestion, key: RowKey): string {
  return Buffer.from(JSON.stringify([question.endpoint, computeDigest(question), ...key])).toString('base64url');
}

/** Returns the key in a cursor. Throws a Rejection if `writeCursor` would not write this text for this question. */
export function readCursor<K extends RowKey>(
  text: string,
  question: ListQuestion,
  isKey: (parts: readonly unknown[]) => parts is K,
): K {
  const [, , ...key] = parseParts(text);
  if (!isKey(key) || writeCursor(question, key) !== text) {
    throw new Rejection('PARAM_INVALID', 'cursor must be a nextCursor of the same query');
  }
  return key;
}

function parseParts(text: string): readonly unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    return Array.isArray(parts) ? parts : [];
  } catch {
    return [];
  }
}

/** Long enough to make collisions improbable. It need not resist forgery, because a forged cursor gains nothing. */
const DIGEST_BYTES = 9;

function computeDigest({ channelId, filter }: ListQuestion): string {
  const hash = createHash('sha256').update(JSON.stringify([channelId, filter]));
  return hash.digest().subarray(0, DIGEST_BYTES).toString('base64url');
}
