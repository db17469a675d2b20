import { createHash, randomBytes } from 'node:crypto';

/** Codes with 80 random bits each, so a fast hash is enough. Each is used once in place of an authenticator code. */
const CODES = 10;
const LENGTH = 16;
/** Without 0, 1, O and I, which are easily confused. */
const LETTERS = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';

export const createRecoveryCodes = (): readonly string[] => Array.from({ length: CODES }, createRecoveryCode);

function createRecoveryCode(): string {
  const letters = [...randomBytes(LENGTH)].map((byte) => LETTERS[byte % LETTERS.length]).join('');
  return (letters.match(/.{4}/g) ?? []).join('-');
}

/** Returns the hash of a code as it was typed, or undefined if the text has another form. */
export function hashRecoveryCode(typed: string): string | undefined {
  const letters = typed.toUpperCase().replaceAll(/[\s-]/g, '');
  if (!/^[A-Z2-9]{16}$/.test(letters)) return undefined;
  return createHash('sha256').update(letters).digest('base64url');
}
