import { decryptField, Rejection } from '@perennial/wire';
import type { Channel } from '../channels/channel.js';

interface PlaintextRule {
  readonly holds: RegExp;
  readonly words: string;
}

/** What may stand behind a ciphertext. Nothing is stripped or respelled: two spellings are two values. */
const RULES = {
  card: { holds: /^[0-9]{8,32}$/, words: '8 to 32 digits' },
  mobile: { holds: /^\+?[0-9]{5,20}$/, words: '5 to 20 digits, after an optional +' },
  name: { holds: /^.{1,100}$/su, words: '1 to 100 characters' },
  certificate: { holds: /^.{1,64}$/su, words: '1 to 64 characters' },
  code: { holds: /^.{1,32}$/su, words: '1 to 32 characters' },
} as const satisfies Record<string, PlaintextRule>;

export type PlaintextKind = keyof typeof RULES;

/** Throws DECRYPT_FAILED or PARAM_INVALID, either with the field's name and never its value. */
export function readPlaintext(channel: Channel, kind: PlaintextKind, ciphertext: string, field: string): string {
  const text = decrypted(channel, ciphertext, field);
  const { holds, words } = RULES[kind];
  if (!holds.test(text)) throw new Rejection('PARAM_INVALID', `${field} must hold ${words}`);
  return text;
}

function decrypted({ aesKey }: Channel, ciphertext: string, field: string): string {
  try {
    return decryptField(ciphertext, aesKey);
  } catch (error) {
    // Which field it is, and still not why: docs/interface.md has it that all reasons are one.
    throw error instanceof Rejection ? new Rejection('DECRYPT_FAILED', `${field} cannot be decrypted`) : error;
  }
}
