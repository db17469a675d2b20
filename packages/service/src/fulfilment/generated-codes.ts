import { randomInt } from 'node:crypto';
import type { ImmediateFulfilment } from './fulfilment.js';

/** Without the letters and digits that are read for each other. */
const ALPHABET = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ';
const CODE_LENGTH = 16;

/** Eighty bits of random: nobody guesses one, and no two are the same. */
export const generatedFulfilment: ImmediateFulfilment = {
  kind: 'GENERATED',
  takeCode: async () => Array.from({ length: CODE_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join(''),
};
