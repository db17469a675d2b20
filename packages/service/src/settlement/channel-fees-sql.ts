import { columns, declareList, declareWrite, type RowOf } from '../platform/db/database.js';
import type { Query } from '../platform/db/declared.js';
import { joinColumns } from '../platform/db/statement.js';
import { shanghaiText } from '../platform/db/time-sql.js';

/** The terms of a channel, valid from a month on. */
export type FeeTerms = Omit<RowOf<typeof FEE_COLUMNS>, 'channelId'>;

const FEE_COLUMNS = columns({
  channelId: 'text',
  /** A month of Asia/Shanghai, yyyy-MM. */
  fromMonth: 'text',
  /** The part of each debit that is the fee, in hundredths of a percent. */
  feeBasisPoints: 'integer',
  /** The fixed fee of each debit. */
  feeFixedCent: 'bigint',
  /** The channel's part of its revenue, in hundredths of a percent. */
  shareBasisPoints: 'integer',
});

const FEE_FIELDS = `f.channel_id::text as "channelId", f.from_month as "fromMonth",
  f.fee_basis_points as "feeBasisPoints", f.fee_fixed_cent as "feeFixedCent", f.share_basis_points as "shareBasisPoints"`;

/** Lists the terms that are valid in a month: at most one row for each channel, for all channels or for one. */
export const listTermsIn: Query<[month: string, channelId?: string], RowOf<typeof FEE_COLUMNS>[]> = declareList({
  text: `select distinct on (f.channel_id) ${FEE_FIELDS} from channel_fees f
     where f.from_month <= $1 and ($2::bigint is null or f.channel_id = $2) order by f.channel_id, f.from_month desc`,
  parameters: ['text', 'bigint?'],
  columns: FEE_COLUMNS,
});

const VERSION_COLUMNS = joinColumns(FEE_COLUMNS, columns({ setBy: 'text', setAt: 'text' }));

/** Lists all terms of a channel, latest first. */
export const listTermsOf: Query<[channelId: number], RowOf<typeof VERSION_COLUMNS>[]> = declareList({
  text: `select ${FEE_FIELDS}, f.set_by as "setBy", ${shanghaiText('f.set_at')} as "setAt" from channel_fees f
     where f.channel_id = $1 order by f.from_month desc`,
  parameters: ['bigint'],
  columns: VERSION_COLUMNS,
});

/** Stores the terms of a channel from a month on. Replaces those of the same month. */
export const storeTerms = declareWrite({
  text: `insert into channel_fees (channel_id, from_month, fee_basis_points, fee_fixed_cent, share_basis_points, set_by)
     values ($1, $2, $3, $4, $5, $6)
     on conflict (channel_id, from_month) do update set fee_basis_points = excluded.fee_basis_points,
       fee_fixed_cent = excluded.fee_fixed_cent, share_basis_points = excluded.share_basis_points,
       set_by = excluded.set_by, set_at = now()`,
  parameters: {
    channelId: 'bigint',
    fromMonth: 'text',
    feeBasisPoints: 'integer',
    feeFixedCent: 'bigint',
    shareBasisPoints: 'integer',
    setBy: 'text',
  },
});
