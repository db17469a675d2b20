import { Type } from '@perennial/wire';
import { count, integerOrNull, oneOf, textOrNull, time, timeOrNull } from './parts.js';

/** The last 15 minutes, 24 hours (default) or 30 days, in whole minutes, hours or days. */
const range = oneOf('15m', '24h', '30d');
export const healthQuery = Type.Object({ range: Type.Optional(range) });

/** The calls of all nodes. Calls of the last seconds may be missing. */
const calls = Type.Object({
  calls: count,
  succeeded: count,
  /** Answered with a refusal, such as a declined debit, a wrong code or a push that was not accepted. */
  declined: count,
  /** Without a usable answer. The rest of the calls were answered without a result yet. */
  unknown: count,
  /** Results of debits, from answers and notices. */
  debitsPaid: count,
  debitsDeclined: count,
  averageMs: integerOrNull,
  slowestMs: integerOrNull,
});

/** The calls of each minute (15m), hour (24h) or day (30d), oldest first. The last one is not over. */
const series = Type.Array(Type.Object({ at: time, calls: count, declined: count, unknown: count }));

export const healthAnswer = Type.Object({
  range,
  institutions: Type.Array(
    Type.Object({
      code: Type.String(),
      displayName: Type.String(),
      gateway: oneOf('sandbox', 'bridge'),
      debitsPausedAt: timeOrNull,
      /** Since when no call was answered, as for the alert `institution-silent`. */
      silentSince: timeOrNull,
      /** Since when every debit was declined, as for the alert `institution-declining`. */
      decliningSince: timeOrNull,
      calls,
      series,
    }),
  ),
  suppliers: Type.Array(
    Type.Object({
      benefitCode: Type.String(),
      /** As in the list of benefits. */
      name: textOrNull,
      nameZh: textOrNull,
      nameEn: textOrNull,
      calls,
      series,
    }),
  ),
  /** Pushes to all channels, and the up to 100 channels that got most pushes without accepting them. */
  callbacks: Type.Object({
    calls,
    series,
    channels: Type.Array(Type.Object({ appId: Type.String(), name: Type.String(), calls })),
  }),
});

/** The effect of a pause of a payment channel's renewals. */
export const pausePreview = Type.Object({
  /** Renewals and retries that are due within 24 hours. A pause holds them. */
  renewalsDue: count,
  /** True if counting stopped at a limit, so that the real number may be higher. */
  isAtLeast: Type.Boolean(),
  /** First debits of new orders that were sent in the last 24 hours. A pause does not hold them. */
  firstDebits: count,
  /** Debits that were sent and have no result. The service keeps querying them. */
  inFlight: count,
});

export const testAnswer = Type.Object({
  isGood: Type.Boolean(),
  calls: Type.Array(
    Type.Object({
      operation: oneOf('handshake', 'debit-query'),
      isAnswered: Type.Boolean(),
      ms: count,
      /** The currency of a handshake, the outcome of a query, or why there is no usable answer. */
      said: Type.String(),
    }),
  ),
});

/** The steps from a new channel to its first order, each derived from stored data. */
export const channelSetup = Type.Object({
  /** True if the channel has an order. */
  isLive: Type.Boolean(),
  steps: Type.Array(
    Type.Object({
      step: oneOf('credentials', 'product', 'paymentChannel', 'callback', 'branding', 'limits', 'order'),
      state: oneOf('DONE', 'OPEN', 'NOT_NEEDED'),
    }),
  ),
});
