import { createHash } from 'node:crypto';
import { Rejection } from '@perennial/wire';

/** Identifies a row of a list, and is its sort key. */
export type RowKey = readonly (number | string)[];

/** The list and its filters. A cursor belongs to one question. */
export interface ListQuestion {
  readonly endpoint: string;
  readonly channelId: number;
  /** Decrypted values, because two ciphertexts may contain the same card. */
  readonly filter: Readonly<Record<string, string | number | undefined>>;
}

/**
 * Returns base64url of a JSON array: endpoint, digest of the question, key of the last row shown. It contains only data
 * that the channel knows, and grants no rights.
 */
export function writeCursor(question: ListQuestion, key: RowKey): string {
  return Buffer.from(JSON.stringify([question.endpoint, computeDigest(question), ...key])).toString('base64url');
}

/** Returns the key. Throws a Rejection for any text that `writeCursor` would not write for this question. */
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

/** Long enough to avoid collisions. Forging a digest gains nothing. */
const DIGEST_BYTES = 9;

function computeDigest({ channelId, filter }: ListQuestion): string {
  const hash = createHash('sha256').update(JSON.stringify([channelId, filter]));
  return hash.digest().subarray(0, DIGEST_BYTES).toString('base64url');
}
