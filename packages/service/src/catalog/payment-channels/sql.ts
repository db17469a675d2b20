import type { PaymentChannel } from '@perennial/wire';
import type { Queryable } from '../../platform/db/database.js';
import type { Place } from '../../platform/lists/page.js';
import { type AuthorizationKey, type Authorized, authorizedSql, authorizedValues } from '../channels/authorized-sql.js';

const { column, page } = authorizedSql('code');

/** Payment channels authorized to the channel. */
export async function listAuthorizedPaymentChannels(
  db: Queryable,
  channelId: number,
  limit: number,
  place: Place<AuthorizationKey>,
): Promise<(PaymentChannel & Authorized)[]> {
  return db.query<PaymentChannel & Authorized>(
    `select p.code, p.display_name as "displayName", cp.is_default as "isDefault", cp.share_enabled as "shareEnabled",
       p.supported_banks as "supportedBanks", ${column}
     from channel_payment_channels cp join payment_channels p using (code) ${page}`,
    authorizedValues(channelId, limit, place),
  );
}

export async function paymentChannelCodes(db: Queryable): Promise<{ code: string }[]> {
  return db.query<{ code: string }>('select code from payment_channels order by code');
}
