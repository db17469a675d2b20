import { randomInt } from 'node:crypto';
import type { AtOnce } from './fulfilment.js';

/** Without the letters and digits that are read for each other. */
const ALPHABET = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ';
const LENGTH = 16;

/** Eighty bits of random: nobody guesses one, and no two are the same. */
export const generated: AtOnce = {
  kind: 'GENERATED',
  code: async () => Array.from({ length: LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join(''),
};
