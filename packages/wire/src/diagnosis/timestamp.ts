import { TIMESTAMP_SKEW_MS } from '../limits.js';
import { type Finding, finding } from './mistakes.js';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const YEAR_MS = 365 * DAY_MS;
/** The largest offset of a time zone from UTC. */
const MAX_ZONE_HOURS = 14;

const IN_MICROSECONDS = 'Your timestamp is in microseconds. Use Unix milliseconds, the same ones in header and text.';
const IN_NANOSECONDS = 'Your timestamp is in nanoseconds. Use Unix milliseconds, the same ones in header and text.';

/** Returns what is wrong with a timestamp, or undefined if the service accepts it. */
export function findTimestampFault(timestamp: string, now: number): Finding | undefined {
  const sent = Number(timestamp);
  const off = sent - now;
  if (Math.abs(off) <= TIMESTAMP_SKEW_MS) return undefined;
  const isAbout = (ms: number) => Math.abs(ms - now) < YEAR_MS;
  if (isAbout(off + now)) return finding('unknown', explainClock(off));
  if (isAbout(sent * SECOND_MS)) return finding('timestamp-in-seconds');
  if (isAbout(sent / SECOND_MS)) return finding('timestamp-in-seconds', IN_MICROSECONDS);
  if (isAbout(sent / SECOND_MS / SECOND_MS)) return finding('timestamp-in-seconds', IN_NANOSECONDS);
  return finding('unknown', explainClock(off));
}

function explainClock(off: number): string {
  const far = `The timestamp is ${describeSpan(Math.abs(off))} ${off < 0 ? 'behind' : 'ahead of'} the clock of the service.`;
  const hours = Math.round(off / HOUR_MS);
  const isZone =
    hours !== 0 && Math.abs(hours) <= MAX_ZONE_HOURS && Math.abs(off - hours * HOUR_MS) <= TIMESTAMP_SKEW_MS;
  return isZone
    ? `${far} Unix time is the same in every time zone: do not add yours to it.`
    : `${far} Set the clock of your machine, and take the time anew for each request.`;
}

function describeSpan(ms: number): string {
  const units: readonly (readonly [number, string])[] = [
    [YEAR_MS, 'year'],
    [DAY_MS, 'day'],
    [HOUR_MS, 'hour'],
    [MINUTE_MS, 'minute'],
  ];
  const [size, name] = units.find(([unit]) => ms >= unit) ?? [SECOND_MS, 'second'];
  const count = Math.round(ms / size);
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}
