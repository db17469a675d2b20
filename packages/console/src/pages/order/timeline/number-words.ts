import { getLanguage } from '../../../i18n/language.ts';

const ORDINALS = ['', 'first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth', 'ninth', 'tenth'];
const CARDINALS = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];

/** Returns an ordinal number. A small number is written as a word: third, but 11th. */
export const ordinalText = (value: number): string =>
  getLanguage() === 'en' ? (ORDINALS[value] ?? `${value}th`) : String(value);

export const cardinalText = (value: number): string =>
  getLanguage() === 'en' ? (CARDINALS[value] ?? String(value)) : String(value);
