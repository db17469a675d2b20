import { useState } from 'react';
import { currencySign } from '../values/money.tsx';

/** Holds the values of a form's fields, and returns the props that Mantine's components need. */
export function useFields<Values extends object>(initial: () => Values) {
  const [values, setValues] = useState(initial);
  const set = (changes: Partial<Values>) => setValues((before) => ({ ...before, ...changes }));
  type Named<Value> = { [Name in keyof Values]: Value extends Values[Name] ? Name : never }[keyof Values];
  type Typed = { readonly currentTarget: HTMLInputElement | HTMLTextAreaElement };
  return {
    values,
    set,
    text: <Name extends Named<string>>(name: Name) => ({
      value: values[name] as string,
      onChange: ({ currentTarget }: Typed) => set({ [name]: currentTarget.value } as Partial<Values>),
    }),
    /** Returns props for a NumberInput or another component whose onChange gets the value itself. */
    value: <Name extends keyof Values>(name: Name) => ({
      value: values[name],
      onChange: (value: Values[Name]) => set({ [name]: value } as unknown as Partial<Values>),
    }),
    flag: <Name extends Named<boolean>>(name: Name) => ({
      checked: values[name] as boolean,
      onChange: ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) =>
        set({ [name]: currentTarget.checked } as Partial<Values>),
    }),
  };
}

/**
 * Returns the texts that differ from the stored texts, with null for an emptied text. Returns undefined if no text
 * differs.
 */
export function changedTexts<Name extends string>(
  stored: Readonly<Record<Name, string>>,
  typed: Readonly<Record<Name, string>>,
): { [Each in Name]?: string | null } | undefined {
  const names = (Object.keys(stored) as Name[]).filter((name) => typed[name].trim() !== stored[name]);
  if (names.length === 0) return undefined;
  return Object.fromEntries(names.map((name) => [name, typed[name].trim() || null])) as Record<Name, string | null>;
}

/** Props of a field, by the kind of value that it takes. */
export const CODE = { classNames: { input: 'mono' }, maxLength: 64, spellCheck: false, autoComplete: 'off' } as const;
export const ADDRESS = {
  placeholder: 'https://',
  classNames: { input: 'mono' },
  maxLength: 2000,
  inputMode: 'url',
  spellCheck: false,
} as const;
export const WHOLE = { allowDecimal: false, allowNegative: false, thousandSeparator: ',' } as const;
export const moneyField = () =>
  ({
    prefix: currencySign(),
    decimalScale: 2,
    fixedDecimalScale: true,
    allowNegative: false,
    hideControls: true,
  }) as const;
