import { parseTime } from '@perennial/wire';

/** From inclusive, to exclusive, Unix milliseconds: PostgreSQL reads no year before 1, which a request may well name. */
export interface InstantRange {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** Times of a request, which its checks have found to be times. */
export function timeRange({ from, to }: { from?: string; to?: string }): InstantRange {
  const read = (text: string | undefined) => (text === undefined ? undefined : (parseTime(text) ?? Number.NaN));
  return { from: read(from), to: read(to) };
}
