import { decryptField, encryptionVersionOf, Rejection } from '@perennial/wire';
import type { Channel } from '../../../catalog/channels/channel.js';

interface PlaintextRule {
  readonly pattern: RegExp;
  readonly description: string;
}

/** The permitted texts of decrypted fields. Values are never normalised, so two spellings count as two values. */
const PLAINTEXT_RULES = {
  card: { pattern: /^[0-9]{8,32}$/, description: '8 to 32 digits' },
  mobile: { pattern: /^\+?[0-9]{5,20}$/, description: 'an optional + and 5 to 20 digits' },
  name: { pattern: /^.{1,100}$/su, description: '1 to 100 characters' },
  certificate: { pattern: /^.{1,64}$/su, description: '1 to 64 characters' },
  code: { pattern: /^.{1,32}$/su, description: '1 to 32 characters' },
  secret: { pattern: /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/, description: '32 bytes in standard base64' },
} as const satisfies Record<string, PlaintextRule>;

export type PlaintextKind = keyof typeof PLAINTEXT_RULES;

export const isMobile = (text: string): boolean => PLAINTEXT_RULES.mobile.pattern.test(text);

/** Thrown if a field cannot be decrypted, or if a field encrypted in v1 contains a wrong text. */
export class UnreadableField extends Rejection {
  constructor(
    name: 'DECRYPT_FAILED' | 'PARAM_INVALID',
    message: string,
    /**
     * True if the failure counts towards the channel's limit. A failure of v1 counts, because the rejection reveals
     * something about the ciphertext to a caller without the key.
     */
    readonly isCounted: boolean,
    /** The ciphertext as it was received. Undefined if it could be decrypted. */
    readonly ciphertext?: string,
  ) {
    super(name, message);
  }
}

/**
 * Thrown if the channel has sent too many unreadable fields. The channel cannot use v1 until the current minute ends.
 */
export class TooManyUnreadableFields extends Error {}

/** Reads the encrypted fields of one request. */
export interface FieldReader {
  readonly channel: Channel;
  /** The texts decrypted so far, by ciphertext. The action and the comparison of the body read the same fields. */
  readonly texts: Map<string, string>;
}

/**
 * Decrypts and checks a field. Throws DECRYPT_FAILED or PARAM_INVALID, whose message has the field's name but not its
 * value, or TooManyUnreadableFields.
 */
export function readPlaintext(reader: FieldReader, kind: PlaintextKind, ciphertext: string, field: string): string {
  const text = readText(reader, ciphertext, field);
  const { pattern, description } = PLAINTEXT_RULES[kind];
  if (pattern.test(text)) return text;
  const message = `${field} must contain ${description}`;
  // Counts only failures of v1. In v1, a caller without the key can change the decrypted text by changing bytes of the
  // ciphertext. In v2, only a caller with the key can get this far.
  if (encryptionVersionOf(ciphertext) !== 'v1') throw new Rejection('PARAM_INVALID', message);
  reader.channel.fieldFailures.add();
  throw new UnreadableField('PARAM_INVALID', message, true);
}

/** Decrypts a field without checking its text. Throws DECRYPT_FAILED or TooManyUnreadableFields. */
export function readText({ channel, texts }: FieldReader, ciphertext: string, field: string): string {
  const known = texts.get(ciphertext);
  if (known !== undefined) return known;
  const isV1 = encryptionVersionOf(ciphertext) === 'v1';
  if (isV1) checkV1(channel, field);
  const text = decryptOrCountFailure(channel, ciphertext, field, isV1);
  texts.set(ciphertext, text);
  return text;
}

function checkV1({ fieldFailures, acceptsV1 }: Channel, field: string): void {
  if (fieldFailures.tooMany) throw new TooManyUnreadableFields('too many encrypted fields could not be decrypted');
  if (acceptsV1) return;
  throw new Rejection('DECRYPT_FAILED', `${field} uses svc_aes_v1, which is disabled for this channel: use svc_aes_v2`);
}

function decryptOrCountFailure(channel: Channel, ciphertext: string, field: string, isV1: boolean): string {
  try {
    return decryptField(ciphertext, channel.aesKey);
  } catch (error) {
    if (!(error instanceof Rejection)) throw error;
    if (isV1) channel.fieldFailures.add();
    // Does not say why the decryption failed: a caller must not be able to tell the reasons apart (docs/interface.md).
    throw new UnreadableField('DECRYPT_FAILED', `${field} cannot be decrypted`, isV1, ciphertext);
  }
}
