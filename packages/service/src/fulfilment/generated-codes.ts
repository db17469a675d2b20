import { randomInt } from 'node:crypto';
import type { ImmediateFulfilment } from './fulfilment.js';

/** Without letters and digits that look alike. */
const ALPHABET = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ';
const CODE_LENGTH = 16;

/** 80 random bits: codes cannot be guessed, and no two are the same. */
export const generatedFulfilment: ImmediateFulfilment = {
  kind: 'GENERATED',
  takeCode: async () => Array.from({ length: CODE_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join(''),
};
