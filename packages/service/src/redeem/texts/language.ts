import { en } from './en.js';
import type { Texts } from './texts.js';
import { zh } from './zh.js';

/** The language that the browser prefers, the first of equals; English for browsers that want neither. */
export function chooseTexts(acceptLanguage: string | undefined): Texts {
  let best: { readonly texts: Texts; readonly quality: number } = { texts: en, quality: 0 };
  for (const range of (acceptLanguage ?? '').slice(0, 1000).split(',')) {
    const [tag = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const texts = { zh, en }[tag.split('-')[0] ?? ''];
    const quality = qualityOf(parameters);
    if (texts && quality > best.quality) best = { texts, quality };
  }
  return best.texts;
}

function qualityOf(parameters: readonly string[]): number {
  const given = parameters.find((parameter) => parameter.startsWith('q='));
  const quality = given === undefined ? 1 : Number(given.slice(2));
  return quality >= 0 && quality <= 1 ? quality : 0;
}
