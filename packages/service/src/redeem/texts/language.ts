import { readAccepted } from '../../platform/accepted.js';
import { en, type Texts } from './en.js';
import { zh } from './zh.js';

/** Returns the texts in the browser's preferred language, the first of equals, or in English if neither is accepted. */
export function chooseTexts(acceptLanguage: string | undefined): Texts {
  let best: { readonly texts: Texts; readonly quality: number } = { texts: en, quality: 0 };
  for (const { name, quality } of readAccepted(acceptLanguage)) {
    const texts = { zh, en }[name.split('-')[0] ?? ''];
    if (texts && quality > best.quality) best = { texts, quality };
  }
  return best.texts;
}
