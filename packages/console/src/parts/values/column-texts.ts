import type { Health, Overview } from '../../api/types.ts';
import { BEIJING, dayText, hourText, momentOf, monthText, shortDayText, timeText } from './time-text.ts';

type Texts = readonly [label: (moment: Date) => string, tick: (moment: Date) => string];

type Range = Overview['range'] | Health['range'];

/** For each time range, two formats of a column's time: for its label and for its tick on the axis. */
const TEXTS: Readonly<Record<Range, Texts>> = {
  '15m': [(moment) => timeText(moment, BEIJING), (moment) => hourText(moment)],
  '24h': [(moment) => timeText(moment, BEIJING), (moment) => hourText(moment)],
  '30d': [(moment) => dayText(moment), (moment) => shortDayText(moment)],
  '12m': [(moment) => monthText(moment), (moment) => monthText(moment)],
};

export function columnTexts(series: readonly { readonly at: string }[], range: Range) {
  const moments = series.map(({ at }) => momentOf(at));
  const [label, tick] = TEXTS[range];
  return { labels: moments.map(label), ticks: moments.map(tick) };
}
