import { createContext, useContext, useSyncExternalStore } from 'react';
import { readSetting, writeSetting } from '../settings.ts';

export const LANGUAGES = ['en', 'zh'] as const;
export type Language = (typeof LANGUAGES)[number];

/** Locales for Intl and the document. English uses en-GB, because English pages write the day before the month. */
const LOCALES: Readonly<Record<Language, string>> = { en: 'en-GB', zh: 'zh-CN' };
export const localeOf = (language: Language): string => LOCALES[language];

const listeners = new Set<() => void>();
let current: Language = rememberedLanguage() ?? browserLanguage();

function rememberedLanguage(): Language | undefined {
  const remembered = readSetting('language');
  return LANGUAGES.find((language) => language === remembered);
}

function browserLanguage(): Language {
  const wanted = navigator.languages.find((tag) => /^(zh|en)\b/i.test(tag)) ?? 'en';
  return /^zh\b/i.test(wanted) ? 'zh' : 'en';
}

export const getLanguage = (): Language => current;

/** Joins names to a list. */
export const joinNames = (names: readonly string[]): string => names.join(current === 'zh' ? '、' : ', ');
/** Joins parts of a sentence. */
export const joinParts = (parts: readonly string[]): string => parts.join(current === 'zh' ? '，' : ', ');

export function setLanguage(language: Language): void {
  current = language;
  writeSetting('language', language);
  markDocument();
  for (const listener of listeners) listener();
}

/** Sets the document's language for line breaks, fonts and screen readers. */
export function markDocument(): void {
  document.documentElement.lang = localeOf(current);
}

/** The page's language. A context, because an entry of a long list reads it a dozen times. */
export const LanguageContext = createContext(current);
export const useLanguage = (): Language => useContext(LanguageContext);

/** Reads the language for the context's provider. */
export const useCurrentLanguage = (): Language =>
  useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, getLanguage);
