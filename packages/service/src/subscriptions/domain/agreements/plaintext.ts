import { decryptField, encryptionVersionOf, Rejection } from '@perennial/wire';
import type { Channel } from '../../../catalog/channels/channel.js';

interface PlaintextRule {
  readonly pattern: RegExp;
  readonly description: string;
}

/** What a decrypted field may contain. Nothing is stripped or respelled: two spellings are two values. */
const PLAINTEXT_RULES = {
  card: { pattern: /^[0-9]{8,32}$/, description: '8 to 32 digits' },
  mobile: { pattern: /^\+?[0-9]{5,20}$/, description: '5 to 20 digits, after an optional +' },
  name: { pattern: /^.{1,100}$/su, description: '1 to 100 characters' },
  certificate: { pattern: /^.{1,64}$/su, description: '1 to 64 characters' },
  code: { pattern: /^.{1,32}$/su, description: '1 to 32 characters' },
} as const satisfies Record<string, PlaintextRule>;

export type PlaintextKind = keyof typeof PLAINTEXT_RULES;

/** A field that could not be decrypted, or whose text in v1 is not of the form it must have. */
export class UnreadableField extends Rejection {
  constructor(
    name: 'DECRYPT_FAILED' | 'PARAM_INVALID',
    message: string,
    /** Whether it was v1: then this rejection tells somebody without the key something about a ciphertext. */
    readonly isCounted: boolean,
    /** What could not be decrypted, as it came. */
    readonly ciphertext?: string,
  ) {
    super(name, message);
  }
}

/** The channel had too many unreadable fields: no v1 is decrypted for it until the minute ends. */
export class TooManyUnreadableFields extends Error {}

/** Throws DECRYPT_FAILED or PARAM_INVALID, with the field's name and never its value; or TooManyUnreadableFields. */
export function readPlaintext(channel: Channel, kind: PlaintextKind, ciphertext: string, field: string): string {
  const isV1 = encryptionVersionOf(ciphertext) === 'v1';
  if (isV1) checkV1(channel, field);
  const text = decryptOrCountFailure(channel, ciphertext, field, isV1);
  const { pattern, description } = PLAINTEXT_RULES[kind];
  if (pattern.test(text)) return text;
  const message = `${field} must hold ${description}`;
  // With v2 only somebody with the key can have encrypted a wrong text. With v1 anybody gets one by changing enough bytes.
  if (!isV1) throw new Rejection('PARAM_INVALID', message);
  channel.fieldFailures.add();
  throw new UnreadableField('PARAM_INVALID', message, true);
}

function checkV1({ fieldFailures, acceptsV1 }: Channel, field: string): void {
  if (fieldFailures.tooMany) throw new TooManyUnreadableFields('too many encrypted fields could not be read');
  if (acceptsV1) return;
  throw new Rejection('DECRYPT_FAILED', `${field} is in svc_aes_v1, which this channel does not take: use svc_aes_v2`);
}

function decryptOrCountFailure(channel: Channel, ciphertext: string, field: string, isV1: boolean): string {
  try {
    return decryptField(ciphertext, channel.aesKey);
  } catch (error) {
    if (!(error instanceof Rejection)) throw error;
    if (isV1) channel.fieldFailures.add();
    // Which field, but not why: by the interface all reasons look the same to the caller.
    throw new UnreadableField('DECRYPT_FAILED', `${field} cannot be decrypted`, isV1, ciphertext);
  }
}
