import { formatTime, parseTime } from '@perennial/wire';
import { OperatorError } from './operator.js';
import { quoted } from './rules.js';

/** A day of Asia/Shanghai, yyyy-MM-dd, that is over. */
export function requirePastDay(text: string, now: number): string {
  if (!/^\d{4}-\d\d-\d\d$/.test(text) || parseTime(`${text} 00:00:00`) === undefined) {
    throw new OperatorError(`the day must be one such as 2026-01-31, not ${quoted(text)}`);
  }
  if (text >= formatTime(now).slice(0, 10)) throw new OperatorError(`${text} is not over yet in Asia/Shanghai`);
  return text;
}
