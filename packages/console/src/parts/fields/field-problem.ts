import { type RefObject, useEffect } from 'react';
import { isProblem } from '../../api/problem.ts';
import { useLanguage } from '../../i18n/language.ts';
import { problemText } from '../problem-text.ts';

/** The field that a refusal concerns, by the refusal's code. */
const BY_CODE: Readonly<Record<string, string>> = {
  'accent-malformed': 'accent',
  'picture-not-base64': 'picture',
  'picture-too-large': 'picture',
  'picture-unknown': 'picture',
  'png-unusable': 'picture',
  'support-malformed': 'support',
  'svg-unusable': 'picture',
};

/** Maps a field's name in words to the field. Some refusals have this name as their first value. */
const BY_NAME: Readonly<Record<string, string>> = {
  'the display name': 'displayName',
  'the support address': 'support',
  'the address of the terms': 'termsUrl',
  'the address of the shop': 'shopUrl',
  'the Chinese description': 'descriptionZh',
  'the English description': 'descriptionEn',
  'the address where codes are used': 'useUrl',
};

const fieldOf = (error: unknown): string | undefined =>
  isProblem(error) ? (BY_CODE[error.code ?? ''] ?? BY_NAME[error.values[0] ?? '']) : undefined;

/** Returns whether a refusal can be shown at a field. */
export const isAboutField = (error: unknown): boolean => fieldOf(error) !== undefined;

/**
 * Shows a refusal at the field that it concerns and focuses the field. Other refusals are shown at the end of the form.
 */
export function useFieldProblem(error: unknown, form: RefObject<HTMLElement | null>) {
  const language = useLanguage();
  const field = fieldOf(error);
  useEffect(() => {
    if (error && field) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [error, field, form]);
  return {
    at: (name: string): string | undefined =>
      isProblem(error) && field === name ? problemText(error, language) : undefined,
    elsewhere: field === undefined ? error : undefined,
  };
}
