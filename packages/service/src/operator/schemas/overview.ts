import { Type } from '@perennial/wire';
import { perFigure } from '../../figures/figures.js';
import { cents, count, oneOf, said, text, textOrNull, time, timeOrNull } from './parts.js';

export const overviewQuery = Type.Object({
  /** 24h by hour, 30d by day, 12m by month. */
  range: Type.Optional(oneOf('24h', '30d', '12m')),
  appId: Type.Optional(text(64)),
});

const figures = perFigure(count);

export const overview = Type.Object({
  range: oneOf('24h', '30d', '12m'),
  from: time,
  to: time,
  /** When the engine last updated the figures. */
  asOf: timeOrNull,
  totals: Type.Object(figures),
  /** The range of the same length before. */
  before: Type.Object(figures),
  /** One entry per hour, day or month, oldest first, including empty ones. */
  series: Type.Array(Type.Object({ at: time, ...figures })),
  /** The current state. */
  now: Type.Object({
    /** When orders were last counted, for the next three fields. Null before the first time. */
    ordersCountedAt: timeOrNull,
    activeOrders: count,
    waitingForRetry: count,
    /** Orders with a debit or a refund without a final result, as `/orders?unsettled=true` lists them. */
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
      /** Collected by the service and billed to the channel, in total. */
      volumeCent: cents,
    }),
  ),
  alerts: Type.Array(
    Type.Object({
      kind: Type.String(),
      subject: Type.String(),
      detail: Type.String(),
      detailSaid: said,
      lastSeenAt: time,
    }),
  ),
});

/** Each counted up to 1,000. */
export const waitingCounts = Type.Object({
  alerts: count,
  approvals: count,
  failedPayments: count,
  differences: count,
});

export const searchQuery = Type.Object({ q: Type.String({ minLength: 1, maxLength: 128 }) });

export const searchResult = Type.Object({
  kind: oneOf('order', 'payment', 'refund', 'agreement', 'event', 'user', 'channel', 'product'),
  /** The number or code of the hit. */
  id: Type.String(),
  title: Type.String(),
  subtitle: Type.String(),
  status: textOrNull,
  appId: textOrNull,
  /** The order that the hit belongs to, if any. */
  orderNo: textOrNull,
  /** Set for users. Null if the operator may not see it and has not typed it. */
  channelUserId: textOrNull,
  /** The kind of match, such as external-number, mobile or card-tail. */
  matched: Type.String(),
});
export const searchAnswer = Type.Object({
  results: Type.Array(searchResult),
  /** True if there are more hits than shown. */
  hasMore: Type.Boolean(),
  /** True if the text may be a mobile number, which only support may search. */
  isMobileLeftOut: Type.Boolean(),
});
