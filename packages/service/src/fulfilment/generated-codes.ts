import { randomBytes } from 'node:crypto';
import type { ImmediateFulfilment } from './fulfilment.js';

/** Without letters and digits that look alike. There are 32, so five bits of random choose one. */
const ALPHABET = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ';
const CODE_LENGTH = 16;

/** 80 random bits: codes cannot be guessed, and no two are the same. */
export function generateCode(): string {
  let code = '';
  for (const byte of randomBytes(CODE_LENGTH)) code += ALPHABET[byte % ALPHABET.length];
  return code;
}

export const generatedFulfilment: ImmediateFulfilment = { kind: 'GENERATED', takeCode: async () => generateCode() };
