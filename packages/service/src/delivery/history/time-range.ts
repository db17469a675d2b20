import { parseTime } from '@perennial/wire';

/** `from` is inclusive, `to` is exclusive. Unix milliseconds, because PostgreSQL rejects texts with years before 1. */
export interface InstantRange {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** Parses the times of a request, which are validated already. */
export function timeRange({ from, to }: { from?: string; to?: string }): InstantRange {
  const read = (text: string | undefined) => (text === undefined ? undefined : (parseTime(text) ?? Number.NaN));
  return { from: read(from), to: read(to) };
}
