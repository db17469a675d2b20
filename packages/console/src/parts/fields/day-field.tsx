import '@mantine/dates/styles.layer.css';
import 'dayjs/locale/zh-cn';
import { DatePickerInput, type DatePickerInputProps, DatesProvider } from '@mantine/dates';
import { now } from '../../clock.ts';
import { useLanguage } from '../../i18n/language.ts';
import { ClockIcon } from '../../icons/icons.tsx';
import { dayText, momentOf } from '../values/time-text.ts';

const DAY_MS = 86_400_000;
/** Returns yesterday in Beijing time. */
export const yesterday = (): string => new Date(now() + DAY_MS / 3 - DAY_MS).toISOString().slice(0, 10);

interface DayFieldProps extends Pick<DatePickerInputProps, 'label' | 'description' | 'size' | 'w'> {
  /** A placeholder and accessible name, for fields without a visible label. */
  readonly placeholder?: string;
  /** 2026-01-31. */
  readonly value: string | undefined;
  readonly isClearable?: boolean;
  onChange(day: string | undefined): void;
}

/** A field for a past day, Beijing time. */
export function DayField({ value, placeholder, isClearable = false, onChange, ...props }: DayFieldProps) {
  const language = useLanguage();
  return (
    <DatesProvider settings={{ locale: language === 'zh' ? 'zh-cn' : 'en', firstDayOfWeek: 1 }}>
      <DatePickerInput
        {...props}
        {...(placeholder === undefined ? {} : { placeholder, 'aria-label': placeholder })}
        leftSection={<ClockIcon size={14} />}
        value={value ?? null}
        onChange={(day) => onChange(day ?? undefined)}
        valueFormatter={({ date }) => (typeof date === 'string' ? dayText(momentOf(date)) : '')}
        maxDate={yesterday()}
        clearable={isClearable}
        popoverProps={{ shadow: 'md', radius: 'md' }}
      />
    </DatesProvider>
  );
}
