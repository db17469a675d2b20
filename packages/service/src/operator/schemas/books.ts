import { Type } from '@perennial/wire';
import {
  cents,
  changed,
  count,
  integerOrNull,
  nextCursor,
  oneOf,
  paging,
  text,
  textOrNull,
  time,
  timeOrNull,
} from './parts.js';

export const reconciliationsQuery = Type.Object({ paymentChannelCode: Type.Optional(text(64)), ...paging });
export const reconciliation = Type.Object({
  paymentChannelCode: Type.String(),
  day: Type.String(),
  source: Type.String(),
  lines: count,
  differences: count,
  open: count,
  runBy: Type.String(),
  runAt: time,
});
export const reconciliations = Type.Object({ reconciliations: Type.Array(reconciliation), nextCursor });

/** `csv` is the statement file as text. If it is unset, the service requests the statement from the bridge. */
export const reconcileRequest = Type.Object({
  paymentChannelCode: text(64),
  day: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }),
  csv: Type.Optional(Type.String({ minLength: 1, maxLength: 20_000_000 })),
});

export const differencesQuery = Type.Object({
  paymentChannelCode: Type.Optional(text(64)),
  day: Type.Optional(Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' })),
  which: Type.Optional(oneOf('open', 'all')),
  ...paging,
});
export const difference = Type.Object({
  differenceNo: Type.String(),
  paymentChannelCode: Type.String(),
  day: Type.String(),
  kind: Type.String(),
  lineKind: Type.String(),
  /** An attempt number or a refund number. */
  number: Type.String(),
  orderNo: textOrNull,
  hereAmountCent: integerOrNull,
  hereStatus: textOrNull,
  thereAmountCent: integerOrNull,
  thereStatus: textOrNull,
  firstSeenAt: time,
  lastSeenAt: time,
  owner: textOrNull,
  closedBy: textOrNull,
  closedAt: timeOrNull,
  closingNote: textOrNull,
});
export const differences = Type.Object({ differences: Type.Array(difference), nextCursor });
export const closeRequest = Type.Object({ note: text() });
export const differenceOwnerRequest = Type.Object({ owner: Type.OrNull(text(64)) });
export const differenceChanged = Type.Object({ difference, changed });

const sums = {
  collectedCent: cents,
  collectedCount: count,
  refundedCent: cents,
  refundedCount: count,
  billedCent: cents,
  billedCount: count,
};
export const settlementMonth = Type.Object({
  month: Type.String(),
  monthIsOver: Type.Boolean(),
  currency: Type.String(),
  /** A closed month keeps the figures that were stored when it was closed. */
  status: oneOf('OPEN', 'CLOSED'),
  closedBy: textOrNull,
  closedAt: timeOrNull,
  totals: Type.Object(sums),
  /** The sum of `laterCent` over all channels. */
  laterCent: cents,
  unsettled: count,
  channels: Type.Array(
    Type.Object({
      appId: Type.String(),
      name: Type.String(),
      ...sums,
      /**
       * The net sum of changes that were made to closed months after their closing. These changes are counted in this
       * month.
       */
      laterCent: cents,
      /** The changes of `laterCent` in detail. */
      later: Type.Object(sums),
      unsettled: count,
      products: Type.Array(Type.Object({ productCode: Type.String(), settlementMode: Type.String(), ...sums })),
    }),
  ),
});
export const settlementMonths = Type.Object({
  months: Type.Array(
    Type.Object({ month: Type.String(), status: oneOf('OPEN', 'CLOSED'), closedBy: textOrNull, closedAt: timeOrNull }),
  ),
});
export const closeMonthRequest = Type.Object({ confirmation: text(16), note: Type.Optional(text()) });
