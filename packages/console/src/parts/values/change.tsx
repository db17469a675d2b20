import { Text } from '@mantine/core';
import { dictionary } from '../../i18n/dictionary.ts';
import { getLanguage, localeOf } from '../../i18n/language.ts';

const useTexts = dictionary({
  up: ['up {share}', '上升 {share}'],
  down: ['down {share}', '下降 {share}'],
  same: ['unchanged', '持平'],
  points: ['{value} pp', '{value} 个百分点'],
});

export const shareText = (share: number, digits = 1): string =>
  new Intl.NumberFormat(localeOf(getLanguage()), { style: 'percent', maximumFractionDigits: digits }).format(share);

const decimal = (value: number): string =>
  new Intl.NumberFormat(localeOf(getLanguage()), { maximumFractionDigits: 1 }).format(value);

/** Formats a change: 7.4 %, 58 %; ×10 if the value is at least ten times the previous value. */
function timesText(share: number): string {
  if (share >= 9) return `×${Math.round(share + 1)}`;
  return shareText(Math.abs(share), Math.abs(share) < 0.1 ? 1 : 0);
}

interface ChangeProps {
  readonly value: number;
  readonly before: number;
  /** Whether an increase is good or bad. */
  readonly more?: 'good' | 'bad' | 'neutral';
  /** Set for percentages: the difference is shown in percentage points. */
  readonly isShare?: boolean;
  /** The time range that the value is compared with, in words. */
  readonly than?: string;
}

/** Shows how a figure differs from the same figure in the previous time range. */
export function Change({ value, before, more = 'good', isShare = false, than }: ChangeProps) {
  const t = useTexts();
  // Shows nothing if a value is missing, or if there was nothing before to compare with.
  if (Number.isNaN(value) || Number.isNaN(before) || before === 0) return null;
  const words = than ? <span className="quiet tiny">{than}</span> : null;
  if (value === before)
    return (
      <>
        <span className="quiet tiny">{t('same')}</span> {words}
      </>
    );
  const share = (value - before) / before;
  const isUp = value > before;
  const tone = more === 'neutral' ? 'dimmed' : (more === 'good') === isUp ? 'var(--positive)' : 'var(--negative)';
  const text = isShare ? t('points', { value: decimal(Math.abs(value - before) * 100) }) : timesText(share);
  return (
    <>
      <Text span className="figures" fz="xs" fw={500} c={tone}>
        <span aria-hidden="true">
          {isUp ? '▲' : '▼'} {text}
        </span>
        <span className="only-read">{isUp ? t('up', { share: text }) : t('down', { share: text })}</span>
      </Text>{' '}
      {words}
    </>
  );
}
