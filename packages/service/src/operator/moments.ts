import { parseTime } from '@perennial/wire';
import { refusal } from './operator.js';
import { quoted } from './rules.js';

/** A time, or a day, which begins at midnight in Asia/Shanghai. Unix milliseconds. */
export function parseMoment(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const at = parseTime(text) ?? parseTime(`${text} 00:00:00`);
  if (at !== undefined) return at;
  throw refusal('time-malformed')`${quoted(text)} is not a time such as 2026-01-31 or 2026-01-31 12:00:00`;
}
