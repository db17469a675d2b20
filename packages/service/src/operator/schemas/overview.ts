import { Type } from '@perennial/wire';
import { perFigure } from '../../figures/figures.js';
import { severity } from './alerts.js';
import { cents, count, oneOf, said, text, textOrNull, time, timeOrNull } from './parts.js';

export const overviewQuery = Type.Object({
  /** 24h has figures for each hour, 30d for each day, 12m for each month. */
  range: Type.Optional(oneOf('24h', '30d', '12m')),
  appId: Type.Optional(text(64)),
});

const figures = perFigure(count);

export const overview = Type.Object({
  range: oneOf('24h', '30d', '12m'),
  from: time,
  to: time,
  /** The time up to which the engine has counted the figures. Null before the first count. */
  asOf: timeOrNull,
  totals: Type.Object(figures),
  /** The totals of the preceding time range, which has the same length. */
  before: Type.Object(figures),
  /** One entry for each hour, day or month, oldest first. Entries without figures are included. */
  series: Type.Array(Type.Object({ at: time, ...figures })),
  /** The current state. */
  now: Type.Object({
    /** When `activeOrders`, `waitingForRetry` and `renewalsDueToday` were last counted. Null before the first count. */
    ordersCountedAt: timeOrNull,
    activeOrders: count,
    waitingForRetry: count,
    /** The number of orders with a debit or a refund without a final result. */
    unsettledOrders: count,
    oldestUnsettledAt: timeOrNull,
    renewalsDueToday: count,
    renewalsDoneToday: count,
    eventsWaiting: count,
    eventsGivenUp: count,
    oldestEventAt: timeOrNull,
    openAlerts: count,
    approvalsWaiting: count,
  }),
  /** Largest volume first. */
  channels: Type.Array(
    Type.Object({
      appId: Type.String(),
      name: Type.String(),
      ordersCreated: count,
      debitsFailed: count,
      /** The sum of debits by the service and amounts billed to the channel. */
      volumeCent: cents,
    }),
  ),
  alerts: Type.Array(
    Type.Object({
      kind: Type.String(),
      severity,
      subject: Type.String(),
      detail: Type.String(),
      detailSaid: said,
      lastSeenAt: time,
    }),
  ),
});

export const cellsQuery = Type.Object({ range: Type.Optional(oneOf('24h', '30d', '12m')) });

/** The counts of the current state that can be added up. */
export const CELL_COUNTS = [
  'activeOrders',
  'waitingForRetry',
  'unsettledOrders',
  'renewalsDueToday',
  'renewalsDoneToday',
  'eventsWaiting',
  'eventsGivenUp',
  'openAlerts',
  'approvalsWaiting',
] as const;
const cellCounts = Type.Object(
  Object.fromEntries(CELL_COUNTS.map((name) => [name, count])) as Record<(typeof CELL_COUNTS)[number], typeof count>,
);

/** Figures and alerts of all cells. Cells with a problem count as 0 in the sums. */
export const cellsOverview = Type.Object({
  range: oneOf('24h', '30d', '12m'),
  from: time,
  to: time,
  totals: Type.Object(figures),
  now: cellCounts,
  cells: Type.Array(
    Type.Object({
      cell: Type.Integer(),
      consoleUrl: textOrNull,
      /** `unreachable`: no answer, or its address is unknown. `refused`: it has another key or another clock. */
      problem: Type.OrNull(oneOf('unreachable', 'refused')),
      totals: Type.Object(figures),
      now: cellCounts,
    }),
  ),
  alerts: Type.Array(
    Type.Object({ cell: Type.Integer(), kind: Type.String(), severity, subject: Type.String(), lastSeenAt: time }),
  ),
});

/** The numbers of open tasks. Each number is at most 1,000, even if there are more tasks. */
export const waitingCounts = Type.Object({
  alerts: count,
  approvals: count,
  mentions: count,
  failedPayments: count,
  differences: count,
});

export const searchQuery = Type.Object({ q: Type.String({ minLength: 1, maxLength: 200 }) });

export const searchResult = Type.Object({
  kind: oneOf('order', 'payment', 'refund', 'agreement', 'event', 'user', 'channel', 'product'),
  /** The number or code of the record that was found. */
  id: Type.String(),
  title: Type.String(),
  subtitle: Type.String(),
  status: textOrNull,
  appId: textOrNull,
  /** The order to which the result leads, if any. */
  orderNo: textOrNull,
  /**
   * The user to whom the result leads, if any. Null if the role may not see the user id and the operator did not type
   * it.
   */
  channelUserId: textOrNull,
  /** The field that matched, such as external-number, mobile or card-tail. */
  matched: Type.String(),
});
export const searchAnswer = Type.Object({
  results: Type.Array(searchResult),
  /** True if there are more hits than shown. */
  hasMore: Type.Boolean(),
  /** True if the text may be a mobile number, but the role may not search for mobile numbers. */
  isMobileLeftOut: Type.Boolean(),
});
