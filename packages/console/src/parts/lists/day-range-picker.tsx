import '@mantine/dates/styles.layer.css';
import 'dayjs/locale/zh-cn';
import { DatePickerInput, DatesProvider } from '@mantine/dates';
import dayjs from 'dayjs';
import { useState } from 'react';
import { now } from '../../clock.ts';
import { dictionary } from '../../i18n/dictionary.ts';
import { useLanguage } from '../../i18n/language.ts';
import { ClockIcon } from '../../icons/icons.tsx';
import { momentOf, shortDayText } from '../values/time-text.ts';
import styles from './filter-bar.module.css';

export interface DayRangeFilterProps {
  readonly label: string;
  /** The first day of the range, in the form 2026-01-31. */
  readonly from: string | undefined;
  /** The day after the last day of the range, as in the API. */
  readonly to: string | undefined;
  /** Set for a filter of future days: the preset ranges then begin today instead of ending today. */
  readonly isAhead?: boolean;
  onChange(range: { readonly from: string | undefined; readonly to: string | undefined }): void;
}

const useTexts = dictionary({
  today: ['Today', '今天'],
  week: ['Last 7 days', '最近 7 天'],
  month: ['Last 30 days', '最近 30 天'],
  quarter: ['Last 90 days', '最近 90 天'],
  nextWeek: ['Next 7 days', '未来 7 天'],
  nextMonth: ['Next 30 days', '未来 30 天'],
});

const dayBefore = (day: string) => dayjs(day).subtract(1, 'day').format('YYYY-MM-DD');
/** Returns the last day of a range that ends at `end`. A day counts even if only its beginning is in the range. */
const lastDayBefore = (end: string) => (/[1-9]/.test(end.slice(10)) ? end.slice(0, 10) : dayBefore(end.slice(0, 10)));
const dayAfter = (day: string) => dayjs(day).add(1, 'day').format('YYYY-MM-DD');

/** Formats the range. Returns an empty text if no day is chosen, so that the label is shown as the placeholder. */
const rangeText = (days: readonly (string | null)[]): string =>
  days.every((day) => day === null)
    ? ''
    : [...new Set(days.map((day) => (day ? shortDayText(momentOf(day)) : '…')))].join(' – ');

/** Filters by days in Beijing time. The first and the last day are included: 1 to 31 January is all of January. */
export default function DayRangePicker({ label, from, to, isAhead, onChange }: DayRangeFilterProps) {
  const t = useTexts();
  const language = useLanguage();
  // The range while only its first day is chosen. It does not filter yet.
  const [chosen, setChosen] = useState<[string | null, string | null]>();
  const shown: [string | null, string | null] = chosen ?? [from?.slice(0, 10) ?? null, to ? lastDayBefore(to) : null];
  const today = new Date(now() + 8 * 3_600_000).toISOString().slice(0, 10);
  const last = (days: number): [string, string] => [
    dayjs(today)
      .subtract(days - 1, 'day')
      .format('YYYY-MM-DD'),
    today,
  ];
  const next = (days: number): [string, string] => [
    today,
    dayjs(today)
      .add(days - 1, 'day')
      .format('YYYY-MM-DD'),
  ];
  return (
    <DatesProvider settings={{ locale: language === 'zh' ? 'zh-cn' : 'en', firstDayOfWeek: 1 }}>
      <DatePickerInput
        type="range"
        className={styles.field ?? ''}
        size="xs"
        aria-label={label}
        placeholder={label}
        leftSection={<ClockIcon size={14} />}
        value={shown}
        onChange={(range) => {
          const [first, end] = range;
          const isWhole = (first === null) === (end === null);
          setChosen(isWhole ? undefined : range);
          if (isWhole) onChange({ from: first ?? undefined, to: end ? dayAfter(end) : undefined });
        }}
        valueFormatter={() => rangeText(shown)}
        presets={
          isAhead
            ? [
                { value: next(1), label: t('today') },
                { value: next(7), label: t('nextWeek') },
                { value: next(30), label: t('nextMonth') },
              ]
            : [
                { value: last(1), label: t('today') },
                { value: last(7), label: t('week') },
                { value: last(30), label: t('month') },
                { value: last(90), label: t('quarter') },
              ]
        }
        allowSingleDateInRange
        clearable
        popoverProps={{ shadow: 'md', radius: 'md' }}
      />
    </DatesProvider>
  );
}
