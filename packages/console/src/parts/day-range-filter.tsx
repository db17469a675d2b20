import '@mantine/dates/styles.layer.css';
import 'dayjs/locale/zh-cn';
import { DatePickerInput, DatesProvider } from '@mantine/dates';
import dayjs from 'dayjs';
import { useState } from 'react';
import { now } from '../clock.ts';
import { dictionary } from '../i18n/dictionary.ts';
import { useLanguage } from '../i18n/language.ts';
import { ClockIcon } from '../icons/icons.tsx';
import styles from './filter-bar.module.css';
import { momentOf, shortDayText } from './time-text.ts';

const useTexts = dictionary({
  today: ['Today', '今天'],
  week: ['Last 7 days', '最近 7 天'],
  month: ['Last 30 days', '最近 30 天'],
  quarter: ['Last 90 days', '最近 90 天'],
});

interface DayRangeFilterProps {
  readonly label: string;
  /** The first day that counts: 2026-01-31. */
  readonly from: string | undefined;
  /** The first day that does not count any more, as the API has it. */
  readonly to: string | undefined;
  onChange(range: { readonly from: string | undefined; readonly to: string | undefined }): void;
}

const dayBefore = (day: string) => dayjs(day).subtract(1, 'day').format('YYYY-MM-DD');
const dayAfter = (day: string) => dayjs(day).add(1, 'day').format('YYYY-MM-DD');

/** Nothing, where nothing is chosen: then the label stands there. */
const rangeText = (range: readonly (string | null)[]): string =>
  range.every((day) => day === null) ? '' : range.map((day) => (day ? shortDayText(momentOf(day)) : '…')).join(' – ');

/** Days of Beijing, both of them included as people mean it: 1 to 31 January is all of January. */
export function DayRangeFilter({ label, from, to, onChange }: DayRangeFilterProps) {
  const t = useTexts();
  const language = useLanguage();
  // Between the first and the second press there is half a range, which filters nothing yet.
  const [chosen, setChosen] = useState<[string | null, string | null]>();
  const shown: [string | null, string | null] = chosen ?? [from?.slice(0, 10) ?? null, to ? dayBefore(to) : null];
  const today = new Date(now() + 8 * 3_600_000).toISOString().slice(0, 10);
  const last = (days: number): [string, string] => [
    dayjs(today)
      .subtract(days - 1, 'day')
      .format('YYYY-MM-DD'),
    today,
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
        presets={[
          { value: last(1), label: t('today') },
          { value: last(7), label: t('week') },
          { value: last(30), label: t('month') },
          { value: last(90), label: t('quarter') },
        ]}
        allowSingleDateInRange
        clearable
        popoverProps={{ shadow: 'md', radius: 'md' }}
      />
    </DatesProvider>
  );
}
