import type { Overview } from '../../api/types.ts';
import { BEIJING, dayText, hourText, momentOf, monthText, shortDayText, timeText } from '../../parts/time-text.ts';

/** The hour, the day or the month of each column: in words, and short for the axis. */
export function columnTexts(
  series: Overview['series'],
  range: Overview['range'],
): { labels: string[]; ticks: string[] } {
  const moments = series.map(({ at }) => momentOf(at));
  if (range === '24h')
    return {
      labels: moments.map((moment) => timeText(moment, BEIJING)),
      ticks: moments.map((moment) => hourText(moment)),
    };
  if (range === '30d')
    return {
      labels: moments.map((moment) => dayText(moment)),
      ticks: moments.map((moment) => shortDayText(moment)),
    };
  const months = moments.map((moment) => monthText(moment));
  return { labels: months, ticks: months };
}
