import { TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useEffect, useState } from 'react';
import styles from '../../parts/lists/filter-bar.module.css';
import { currencySign } from '../../parts/values/money.tsx';
import { amountText, parseAmount } from '../order/refunds/typed-amount.ts';
import { useTexts } from './texts.ts';

/** A range of amounts in cents, as in the address. Both ends are included. */
interface Amounts {
  readonly amountFrom?: string | undefined;
  readonly amountTo?: string | undefined;
}

/** Formats a range for the field: 29.90, 20.00–30.00, 20.00– or –30.00. */
const rangeText = ({ amountFrom, amountTo }: Amounts): string => {
  const [from, to] = [amountFrom, amountTo].map((cents) => (cents ? amountText(Number(cents)) : ''));
  return from === to ? (from ?? '') : `${from}–${to}`;
};

/** Parses an amount or a range. Returns undefined if the text is neither. An empty text is the range of all amounts. */
function parseRange(text: string): Amounts | undefined {
  if (text.trim() === '') return { amountFrom: undefined, amountTo: undefined };
  const ends = text.split(/[-–—~～至]/);
  const [from, to = from] = ends.map((end) => (end.trim() === '' ? '' : parseAmount(end, currencySign())));
  if (ends.length > 2 || from === undefined || to === undefined || (from === '' && to === '')) return undefined;
  return { amountFrom: String(from), amountTo: String(to) };
}

/** A filter of one amount, or of a range. It applies shortly after the last key press. */
export function AmountFilter({ value, onChange }: { readonly value: Amounts; onChange(range: Amounts): void }) {
  const t = useTexts();
  const shown = rangeText(value);
  const [text, setText] = useState(shown);
  useEffect(() => setText(shown), [shown]);
  const change = (typed: string) => {
    const range = parseRange(typed);
    if (range && rangeText(range) !== shown) onChange(range);
  };
  const changeLater = useDebouncedCallback(change, 600);
  return (
    <TextInput
      className={styles.field ?? ''}
      size="xs"
      aria-label={t('amountIs')}
      placeholder={t('amountIs')}
      leftSection={currencySign()}
      value={text}
      error={parseRange(text) ? undefined : t('amountWrong')}
      onChange={(event) => {
        setText(event.currentTarget.value);
        changeLater(event.currentTarget.value);
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter') change(text);
      }}
      autoComplete="off"
    />
  );
}
