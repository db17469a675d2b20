import { formatTime, type Static } from '@perennial/wire';
import { readAlertText } from '../../alerts/alert-wordings.js';
import { findAlerts, severityOf } from '../../alerts/alerts-sql.js';
import {
  DAY_MS,
  FIGURE_NAMES,
  type Figures,
  floorToDay,
  floorToHour,
  HOUR_MS,
  perFigure,
  startOfMonth,
} from '../../figures/figures.js';
import { type Bucket, readFiguresByChannel, readSeries } from '../../figures/read-figures-sql.js';
import { requireChannelId } from '../channel-id.js';
import type { OperatorWithClock } from '../operator.js';
import type { overview, overviewQuery } from '../schemas/overview.js';
import { readAsOf, readStandingNow } from './now-sql.js';

const CHANNELS_SHOWN = 20;
const ALERTS_SHOWN = 10;

interface RangeRules {
  readonly bucket: Bucket;
  readonly count: number;
  /** Returns the start of the bucket (hour, day or month) that is `buckets` buckets after the bucket of `at`. */
  start(at: number, buckets: number): number;
}

const RANGES: Readonly<Record<Static<typeof overview>['range'], RangeRules>> = {
  '24h': { bucket: 'hour', count: 24, start: (at, buckets) => floorToHour(at) + buckets * HOUR_MS },
  '30d': { bucket: 'day', count: 30, start: (at, buckets) => floorToDay(at) + buckets * DAY_MS },
  '12m': { bucket: 'month', count: 12, start: startOfMonth },
};

/**
 * Returns the figures of a time range, their change against the preceding time range, and the current state. Reads
 * stored counts, not the orders. `to` is the end of the current hour, day or month, so it lies in the future.
 */
export async function showOverview(
  operator: OperatorWithClock,
  { range = '24h', appId }: Static<typeof overviewQuery>,
) {
  const now = operator.clock.now();
  const { bucket, count, start } = RANGES[range];
  const starts = Array.from({ length: count }, (_, place) => start(now, place + 1 - count));
  const [from = now] = starts;
  const to = start(now, 1);
  return operator.database.transaction(
    async (tx) => {
      const channelId = appId === undefined ? undefined : await requireChannelId(tx, appId);
      const happened = await readSeries(tx, bucket, { from: start(now, 1 - 2 * count), to, channelId });
      const byStart = new Map(happened.map((one) => [one.at, one]));
      const alerts = await findAlerts(tx, 'open', ALERTS_SHOWN);
      return {
        range,
        from: formatTime(from),
        to: formatTime(to),
        asOf: await readAsOf(tx),
        totals: addUp(happened.filter(({ at }) => at >= from)),
        before: addUp(happened.filter(({ at }) => at < from)),
        series: starts.map((at) => ({ ...(byStart.get(at) ?? NOTHING), at: formatTime(at) })),
        now: await readStandingNow(tx, channelId, floorToDay(now)),
        channels: await readFiguresByChannel(tx, bucket, { from, to, channelId }, CHANNELS_SHOWN),
        alerts: alerts.map(({ kind, subject, detail, lastSeenAt }) => {
          const severity = severityOf(kind);
          return { kind, severity, subject, detail, detailSaid: readAlertText(kind, detail), lastSeenAt };
        }),
      };
    },
    { readOnly: true },
  );
}

const NOTHING = perFigure(0);

function addUp(all: readonly Figures[]): Figures {
  const sums = { ...NOTHING };
  for (const figures of all) for (const name of FIGURE_NAMES) sums[name] += figures[name];
  return sums;
}
