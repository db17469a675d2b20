import { getLanguage, type Language, useLanguage } from './language.ts';

/** Each text in both languages, side by side, so that neither can be missing. */
type Texts = Readonly<Record<string, readonly [en: string, zh: string]>>;

/** The names of a text's placeholders: count and total in 'Ends {count} of {total}'. */
type Blanks<Text> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | Blanks<Rest> : never;

type Fillings<Text> = [Blanks<Text>] extends [never] ? [] : [values: Readonly<Record<Blanks<Text>, string | number>>];

export type Translate<T extends Texts> = <Key extends keyof T>(key: Key, ...values: Fillings<T[Key][0]>) => string;

/**
 * Creates the texts of one page or part. `const useTexts = dictionary({ title: ['Orders', '订单'] })`, then in a
 * component `const t = useTexts(); t('title')`. Placeholders are in braces. A text with a bar has two forms; the first
 * is for a `count` of one: '{count} order|{count} orders'.
 */
export function dictionary<const T extends Texts>(texts: T): { (): Translate<T>; now(): Translate<T> } {
  const translate = (language: Language): Translate<T> => {
    const index = language === 'en' ? 0 : 1;
    return (key, ...[values]) => fill(texts[key]?.[index] ?? String(key), values ?? {});
  };
  const byLanguage = { en: translate('en'), zh: translate('zh') };
  /** Returns the texts in the current language, for code outside components. */
  const now = () => byLanguage[getLanguage()];
  return Object.assign(() => byLanguage[useLanguage()], { now });
}

function fill(text: string, values: Readonly<Record<string, string | number>>): string {
  const [one = '', many = one] = text.split('|');
  const form = String(values['count']) === '1' ? one : many;
  return form.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? ''));
}
