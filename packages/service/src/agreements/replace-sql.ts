import type { Queryable } from '../db/database.js';

/** The order runs on another agreement from now on; an attempt on the way keeps the one it was started with. */
export async function switchAgreement(tx: Queryable, orderNo: number, fromId: number, toId: number): Promise<string> {
  await tx.query('update orders set agreement_id = $2 where order_no = $1', [orderNo, toId]);
  const [row] = await tx.query<{ agreementNo: string }>(
    `update agreements set status = 'REPLACED', changed_at = now() where agreement_id = $1
     returning agreement_no as "agreementNo"`,
    [fromId],
  );
  if (!row) throw new Error(`there is no agreement ${fromId}`);
  return row.agreementNo;
}
