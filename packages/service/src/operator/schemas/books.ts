import { settlementModes, Type } from '@perennial/wire';
import { SETTLEMENT_KINDS } from '../../settlement/settlement-lines-sql.js';
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
  csv: Type.Optional(Type.String()),
});

const differenceFields = {
  paymentChannelCode: Type.Optional(text(64)),
  day: Type.Optional(Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' })),
  which: Type.Optional(oneOf('open', 'all')),
};
export const differenceFilter = Type.Object(differenceFields);
export const differencesQuery = Type.Object({ ...differenceFields, ...paging });
export const difference = Type.Object({
  differenceNo: Type.String(),
  paymentChannelCode: Type.String(),
  day: Type.String(),
  kind: Type.String(),
  lineKind: oneOf('DEBIT', 'REFUND'),
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

const terms = {
  /** The first month in which the terms are valid. They are valid until the next terms of the channel. */
  fromMonth: Type.String(),
  /** The part of each debit that is the fee: 60 is 0.6 %. */
  feeBasisPoints: Type.Integer(),
  /** The fixed fee of each debit. */
  feeFixedCent: cents,
  /** The channel's part of what is left of its revenue after refunds and the fee. */
  shareBasisPoints: Type.Integer(),
};

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
  /** The sums of all channels. Null if no channel has terms. */
  feeCent: integerOrNull,
  shareCent: integerOrNull,
  payableCent: integerOrNull,
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
      /** The fee and the share of the month with `later`. Null if the channel has no terms. */
      fees: Type.OrNull(Type.Object({ ...terms, feeCent: cents, shareCent: cents })),
      /** The amount payable to the channel. Negative if the channel pays. Null without terms. */
      payableCent: integerOrNull,
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

const lineFilter = {
  appId: text(64),
  kind: Type.Optional(oneOf(...SETTLEMENT_KINDS)),
  productCode: Type.Optional(text(64)),
  settlementMode: Type.Optional(oneOf(...settlementModes)),
};
export const linesQuery = Type.Object({ ...lineFilter, ...paging });
export const linesExportQuery = Type.Object(lineFilter);
export const lines = Type.Object({
  lines: Type.Array(
    Type.Object({
      kind: oneOf(...SETTLEMENT_KINDS),
      time,
      paymentOrderNo: Type.String(),
      /** Null unless the line is a refund. */
      refundNo: textOrNull,
      externalOrderNo: Type.String(),
      productCode: Type.String(),
      settlementMode: Type.String(),
      cycleNo: count,
      amountCent: cents,
    }),
  ),
  nextCursor,
});

export const feesRequest = Type.Object(terms);
const versions = Type.Array(Type.Object({ ...terms, setBy: Type.String(), setAt: time }));
export const fees = Type.Object({ fees: versions });
export const feesChanged = Type.Object({ fees: versions, changed });
