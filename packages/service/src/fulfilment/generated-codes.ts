import { randomBytes } from '@perennial/wire';
import type { ImmediateFulfilment } from './fulfilment.js';

/** Omits 0, O, 1 and I, which look alike. It has 32 characters, so that five random bits select one. */
const ALPHABET = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ';
const CODE_LENGTH = 16;

/** Returns a code of 80 random bits, which makes it unguessable and unique. */
export function generateCode(): string {
  let code = '';
  for (const byte of randomBytes(CODE_LENGTH)) code += ALPHABET[byte % ALPHABET.length];
  return code;
}

export const generatedFulfilment: ImmediateFulfilment = { kind: 'GENERATED', takeCode: async () => generateCode() };
