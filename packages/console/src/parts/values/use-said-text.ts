import { useLanguage } from '../../i18n/language.ts';
import { type Said, saidText } from '../../i18n/said.ts';
import { moneyText } from './money.tsx';

/** Returns a function that translates a text of the service into the page's language. */
export function useSaidText(): (text: string, said: Said | null | undefined) => string {
  const language = useLanguage();
  return (text, said) => saidText(text, said, language, moneyText);
}
