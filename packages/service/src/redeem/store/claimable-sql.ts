import { columns, declareList } from '../../platform/db/database.js';
import { fromEpochMs } from '../../platform/db/time-sql.js';

/** The maximum number of benefits that one press of "claim everything" claims. */
export const MAX_CLAIMED_TOGETHER = 200;

export const listClaimableOfPeriod = declareList({
  text: `select cycle_no as "cycleNo", position from benefits
     where channel_id = $1 and order_no = $2 and cycle_no = $3 and status = 'ISSUED' and expires_at > ${fromEpochMs('$4')}
     order by expires_at, position`,
  parameters: ['bigint', 'bigint', 'integer', 'double precision'],
  columns: columns({ cycleNo: 'integer', position: 'integer' }),
});

/** Lists the claimable benefits of an order, as many as one press can claim. */
export const listClaimable = declareList({
  text: `select cycle_no as "cycleNo", position from benefits
     where channel_id = $1 and order_no = $2 and status = 'ISSUED' and expires_at > ${fromEpochMs('$3')}
     order by expires_at, cycle_no, position limit ${MAX_CLAIMED_TOGETHER}`,
  parameters: ['bigint', 'bigint', 'double precision'],
  columns: columns({ cycleNo: 'integer', position: 'integer' }),
});
