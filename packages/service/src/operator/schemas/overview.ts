import { Type } from '@perennial/wire';
import { perFigure } from '../../figures/figures.js';
import { cents, count, oneOf, said, text, textOrNull, time, timeOrNull } from './parts.js';

export const overviewQuery = Type.Object({
  /** 24h by the hour, 30d by the day, 12m by the month. */
  range: Type.Optional(oneOf('24h', '30d', '12m')),
  appId: Type.Optional(text(64)),
});

const figures = perFigure(count);

export const overview = Type.Object({
  range: oneOf('24h', '30d', '12m'),
  from: time,
  to: time,
  /** When the engine last brought the figures up to date. */
  asOf: timeOrNull,
  totals: Type.Object(figures),
  /** Of the range of the same length before. */
  before: Type.Object(figures),
  /** One for each hour, day or month, the oldest first, also where nothing happened. */
  series: Type.Array(Type.Object({ at: time, ...figures })),
  /** As it is at this moment. */
  now: Type.Object({
    /** When orders were last counted: the first three are as of then. Null before the first time. */
    ordersCountedAt: timeOrNull,
    activeOrders: count,
    waitingForRetry: count,
    /** Orders with a debit or a refund that has no final result yet: those that `/orders?unsettled=true` lists. */
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
  /** Those with the most volume come first. */
  channels: Type.Array(
    Type.Object({
      appId: Type.String(),
      name: Type.String(),
      ordersCreated: count,
      debitsFailed: count,
      /** Collected by us and billed to the channel, together. */
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
  /** By which the thing is known. */
  id: Type.String(),
  title: Type.String(),
  subtitle: Type.String(),
  status: textOrNull,
  appId: textOrNull,
  /** Of what belongs to an order. */
  orderNo: textOrNull,
  /** Of a user. In clear, or null for those who may not see it and have not typed it themselves. */
  channelUserId: textOrNull,
  /** What matched: for example external-number, mobile, card-tail. */
  matched: Type.String(),
});
export const searchAnswer = Type.Object({
  results: Type.Array(searchResult),
  /** There are more than are shown. */
  hasMore: Type.Boolean(),
  /** It may be a mobile, by which only support finds users. */
  isMobileLeftOut: Type.Boolean(),
});
