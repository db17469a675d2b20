import type { Problem } from '../api/problem.ts';
import type { Language } from '../i18n/language.ts';
import { refusalText } from '../i18n/refusals.ts';

/** Returns the reason of a refusal in the page's language. */
export function problemText({ message, code, values, retryAfterSeconds }: Problem, language: Language): string {
  return refusalText({ detail: message, code, values, seconds: retryAfterSeconds }, language);
}
