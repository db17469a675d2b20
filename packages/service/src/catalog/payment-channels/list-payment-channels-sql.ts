import type { PaymentChannel } from '@perennial/wire';
import { columns, columnsOf, declareList, type Queryable, statement } from '../../platform/db/database.js';
import type { ListPosition } from '../../platform/lists/list-page.js';
import {
  AUTHORIZED_PARAMETERS,
  type AuthorizationKey,
  type Authorized,
  authorizedParameters,
  authorizedSql,
} from '../channels/authorized-sql.js';

const { column, page } = authorizedSql('code');

const LIST_AUTHORIZED_PAYMENT_CHANNELS = statement({
  text: `select p.code, p.display_name as "displayName", cp.is_default as "isDefault", cp.share_enabled as "shareEnabled",
       p.supported_banks as "supportedBanks", ${column}
     from channel_payment_channels cp join payment_channels p using (code) ${page}`,
  parameters: AUTHORIZED_PARAMETERS,
  columns: columnsOf<PaymentChannel & Authorized>({
    code: 'text',
    displayName: 'text',
    isDefault: 'boolean',
    shareEnabled: 'boolean',
    supportedBanks: 'text[]',
    authorizedMicros: 'bigint',
  }),
});

export async function listAuthorizedPaymentChannels(
  db: Queryable,
  channelId: number,
  limit: number,
  place: ListPosition<AuthorizationKey>,
): Promise<(PaymentChannel & Authorized)[]> {
  return db.query(LIST_AUTHORIZED_PAYMENT_CHANNELS, authorizedParameters(channelId, limit, place));
}

export const listPaymentChannelCodes = declareList({
  text: 'select code from payment_channels order by code',
  parameters: [],
  columns: columns({ code: 'text' }),
});
