import { momentOf, monthText } from '../../parts/values/time-text.ts';

/** Returns the name of a month (yyyy-MM). */
export const monthName = (month: string): string => monthText(momentOf(`${month}-01`));
