import { useLanguage } from './language.ts';
import { type Said, saidText } from './said.ts';

/** Texts of the service in the language of the page. */
export function useSaidText(): (text: string, said: Said | null | undefined) => string {
  const language = useLanguage();
  return (text, said) => saidText(text, said, language);
}
