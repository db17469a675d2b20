import { readAccepted } from '../../platform/accepted.js';
import { en, type Texts } from './en.js';
import { zh } from './zh.js';

/**
 * Returns the texts in the language that the browser prefers, or in English if the browser accepts none of our
 * languages.
 */
export function chooseTexts(acceptLanguage: string | undefined): Texts {
  let best: { readonly texts: Texts; readonly quality: number } = { texts: en, quality: 0 };
  for (const { name, quality } of readAccepted(acceptLanguage)) {
    const texts = { zh, en }[name.split('-')[0] ?? ''];
    if (texts && quality > best.quality) best = { texts, quality };
  }
  return best.texts;
}
