import { createHash } from 'node:crypto';
import { Rejection } from '@perennial/wire';

/** Identifies a row of a list, and is what the list is sorted by. */
export type RowKey = readonly (number | string)[];

/** Which list is asked for, and what of it. A cursor belongs to one question. */
export interface ListQuestion {
  readonly endpoint: string;
  readonly channelId: number;
  /** The decrypted values: two ciphertexts may stand for the same card. */
  readonly filter: Readonly<Record<string, string | number | undefined>>;
}

/**
 * base64url of a JSON array: the endpoint, a digest of the question, and the key of the last row that was shown. It holds
 * nothing that the channel does not know, and gives no rights: whose rows are read does not depend on it.
 */
export function writeCursor(question: ListQuestion, key: RowKey): string {
  return Buffer.from(JSON.stringify([question.endpoint, computeDigest(question), ...key])).toString('base64url');
}

/** The key, or a Rejection for everything that `writeCursor` would not have written for this question. */
export function readCursor<K extends RowKey>(
  text: string,
  question: ListQuestion,
  isKey: (parts: readonly unknown[]) => parts is K,
): K {
  const [, , ...key] = parseParts(text);
  if (!isKey(key) || writeCursor(question, key) !== text) {
    throw new Rejection('PARAM_INVALID', 'cursor is none that was given in answer to the same question');
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

/** Enough that two questions do not have the same digest by chance; forging one gains nothing. */
const DIGEST_BYTES = 9;

function computeDigest({ channelId, filter }: ListQuestion): string {
  const hash = createHash('sha256').update(JSON.stringify([channelId, filter]));
  return hash.digest().subarray(0, DIGEST_BYTES).toString('base64url');
}
