import { parseTime } from '@perennial/wire';

/** Times of a request, which its checks have found to be times, as PostgreSQL takes them. */
export function timeRange({ from, to }: { from?: string; to?: string }): { from?: string; to?: string } {
  const read = (text: string) => new Date(parseTime(text) ?? Number.NaN).toISOString();
  return { ...(from === undefined ? {} : { from: read(from) }), ...(to === undefined ? {} : { to: read(to) }) };
}
