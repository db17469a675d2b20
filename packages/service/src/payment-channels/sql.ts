import type { PaymentChannel } from '@perennial/wire';
import type { Queryable } from '../db/database.js';

/** Payment channels authorized to the channel, newest authorization first. */
export async function listAuthorizedPaymentChannels(
  db: Queryable,
  channelId: number,
  limit: number,
  offset: number,
): Promise<PaymentChannel[]> {
  return db.query<PaymentChannel>(
    `select p.code, p.display_name as "displayName", cp.is_default as "isDefault", cp.share_enabled as "shareEnabled",
       p.supported_banks as "supportedBanks"
     from channel_payment_channels cp join payment_channels p using (code)
     where cp.channel_id = $1
     order by cp.authorized_at desc, p.code limit $2 offset $3`,
    [channelId, limit, offset],
  );
}

export async function paymentChannelCodes(db: Queryable): Promise<{ code: string }[]> {
  return db.query<{ code: string }>('select code from payment_channels order by code');
}
