import type { Queryable } from '../platform/db/database.js';
import { declareFind, declareRequire, declareWrite, type Query } from '../platform/db/declared.js';
import { column, columns, type RowOf, statement } from '../platform/db/statement.js';
import { fromEpochMs, inShanghaiZone, shanghaiText } from '../platform/db/time-sql.js';
import type { DifferenceKind } from './reconciliation-runs-sql.js';

/** A difference. Amounts and statuses are null on the side that has no entry. Times are formatted as in the API. */
export type DifferenceView = RowOf<typeof DIFFERENCE_COLUMNS>;

const DIFFERENCE_FIELDS = `difference_no::text as "differenceNo", payment_channel_code as "paymentChannelCode", day::text as day, kind,
  upper(line_kind) as "lineKind", number, here_amount_cent as "hereAmountCent", here_status as "hereStatus",
  there_amount_cent as "thereAmountCent", there_status as "thereStatus", ${shanghaiText('first_seen_at')} as "firstSeenAt",
  ${shanghaiText('last_seen_at')} as "lastSeenAt", owner, closed_by as "closedBy", ${shanghaiText('closed_at')} as "closedAt",
  closing_note as "closingNote"`;

export interface DifferenceFilter {
  readonly paymentChannelCode: string | null;
  readonly day: string | null;
  readonly which: 'open' | 'all';
  /** The position after which the list begins. If undefined, the list begins with its first entry. */
  readonly after?: DifferenceKey | undefined;
  readonly limit: number;
}

/** The day and the number of a difference. */
export type DifferenceKey = readonly [day: string, differenceNo: number];

const DIFFERENCE_COLUMNS = columns({
  differenceNo: 'text',
  paymentChannelCode: 'text',
  day: 'text',
  kind: column<DifferenceKind>('text'),
  lineKind: column<'DEBIT' | 'REFUND'>('text'),
  /** attemptNo or refundNo. */
  number: 'text',
  hereAmountCent: 'bigint?',
  hereStatus: 'text?',
  thereAmountCent: 'bigint?',
  thereStatus: 'text?',
  firstSeenAt: 'text',
  lastSeenAt: 'text',
  /** The operator who investigates the difference. */
  owner: 'text?',
  closedBy: 'text?',
  closedAt: 'text?',
  closingNote: 'text?',
});

const FIND_STORED_DIFFERENCES = statement({
  text: `select ${DIFFERENCE_FIELDS} from reconciliation_differences
     where ($1::text is null or payment_channel_code = $1) and ($2::date is null or day = $2)
       and ($3 = 'all' or closed_at is null)
       and ($5::date is null or day < $5 or (day = $5 and difference_no > $6::bigint))
     order by reconciliation_differences.day desc, difference_no limit $4`,
  parameters: ['text', 'date', 'text', 'bigint', 'date', 'bigint'],
  columns: DIFFERENCE_COLUMNS,
});

/** Lists differences, latest day first, and within a day in the order in which they were found. */
export async function findStoredDifferences(
  db: Queryable,
  { paymentChannelCode, day, which, after, limit }: DifferenceFilter,
): Promise<DifferenceView[]> {
  const [afterDay, afterNo] = after ?? [null, null];
  return db.query(FIND_STORED_DIFFERENCES, [paymentChannelCode, day, which, limit, afterDay, afterNo]);
}

/** Inserts a refund that was made outside the service. No statement has it, so it stays open until an operator closes it. */
export const insertOutsideRefund: Query<
  [paymentChannelCode: string, refundNo: string, amountCent: number, at: number],
  void
> = declareWrite({
  text: `insert into reconciliation_differences
       (payment_channel_code, day, kind, line_kind, number, here_amount_cent, here_status, first_seen_at, last_seen_at)
     select $1, ${inShanghaiZone('n.at')}::date, 'OUTSIDE', 'refund', $2, $3, 'OUTSIDE', n.at, n.at
     from (select ${fromEpochMs('$4')} as at) n`,
  parameters: ['text', 'text', 'bigint', 'double precision'],
});

export const storeDifferenceOwner: Query<[differenceNo: string, owner: string | null], DifferenceView> = declareRequire(
  {
    text: `update reconciliation_differences set owner = $2 where difference_no = $1 returning ${DIFFERENCE_FIELDS}`,
    parameters: ['bigint', 'text?'],
    columns: DIFFERENCE_COLUMNS,
  },
);

/** Locks the row of a difference and reads it. */
export const lockDifference: Query<[differenceNo: string], DifferenceView | undefined> = declareFind({
  text: `select ${DIFFERENCE_FIELDS} from reconciliation_differences where difference_no = $1 for update`,
  parameters: ['bigint'],
  columns: DIFFERENCE_COLUMNS,
});

export const storeClosedDifference: Query<[differenceNo: string, by: string, note: string], DifferenceView> =
  declareRequire({
    text: `update reconciliation_differences set closed_by = $2, closed_at = now(), closing_note = $3 where difference_no = $1
     returning ${DIFFERENCE_FIELDS}`,
    parameters: ['bigint', 'text', 'text'],
    columns: DIFFERENCE_COLUMNS,
  });
