import type { Queryable } from '../db/database.js';
import { instant } from '../db/time-sql.js';

export interface AgreementSwitch {
  readonly orderNo: number;
  readonly fromId: number;
  readonly toId: number;
  readonly paymentChannelCode: string;
  /** A period that failed for now is due at this moment, whatever its schedule said. */
  readonly retryAt: number | null;
}

/** The order runs on another agreement from now on; an attempt on the way keeps the one it was started with. */
export async function switchAgreement(
  tx: Queryable,
  { orderNo, fromId, toId, paymentChannelCode, retryAt }: AgreementSwitch,
): Promise<string> {
  await tx.query(
    `update orders set agreement_id = $2, payment_channel_code = $3, next_due_at = coalesce(${instant('$4')}, next_due_at)
     where order_no = $1`,
    [orderNo, toId, paymentChannelCode, retryAt],
  );
  const [row] = await tx.query<{ agreementNo: string }>(
    `update agreements set status = 'REPLACED', changed_at = now() where agreement_id = $1
     returning agreement_no as "agreementNo"`,
    [fromId],
  );
  if (!row) throw new Error(`there is no agreement ${fromId}`);
  return row.agreementNo;
}
