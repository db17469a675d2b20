import type { Static } from '@perennial/wire';
import type { ChannelView } from '../../catalog/channels/channel-provisioning-sql.js';
import {
  clearOtherDefault,
  deletePaymentChannelAuthorization,
  findPaymentChannelAuthorization,
  storePaymentChannelAuthorization,
} from '../../catalog/payment-channels/payment-channel-provisioning-sql.js';
import { type Changed, inTransaction, type Operator } from '../operator.js';
import type { authorizationRequest } from '../schemas/setup.js';
import { changeChannel } from './channel-change.js';
import { requireLockedPaymentChannel } from './payment-channels.js';
import { type Authorized, findPeriodWarnings } from './period-rules.js';

/**
 * Authorizes a payment channel for a channel, or changes the flags of the authorization. Unset flags stay unchanged, or
 * are false in a new authorization. A new default replaces the former default.
 */
export async function authorizePaymentChannel(
  operator: Operator,
  { appId, code, ...flags }: Static<typeof authorizationRequest> & { readonly appId: string; readonly code: string },
): Promise<Authorized> {
  return inTransaction(operator, async (outer, joined) => {
    await requireLockedPaymentChannel(outer, code, 'share');
    let isNew = false;
    const view = await changeChannel(joined, appId, 'channel.authorize-payment-channel', async (tx, { channelId }) => {
      const former = await findPaymentChannelAuthorization(tx, channelId, code);
      isNew = former === undefined;
      const isDefault = flags.isDefault ?? former?.isDefault ?? false;
      const shareEnabled = flags.shareEnabled ?? former?.shareEnabled ?? false;
      if (former && former.isDefault === isDefault && former.shareEnabled === shareEnabled) return undefined;
      const formerDefault = isDefault ? await clearOtherDefault(tx, channelId, code) : undefined;
      await storePaymentChannelAuthorization(tx, channelId, code, { isDefault, shareEnabled });
      return { code, isDefault, shareEnabled, former: former ?? null, formerDefault: formerDefault ?? null };
    });
    return { ...view, warnings: isNew ? await findPeriodWarnings(outer, view, { paymentChannelCode: code }) : [] };
  });
}

export async function withdrawPaymentChannel(
  operator: Operator,
  { appId, code }: { readonly appId: string; readonly code: string },
): Promise<Changed<ChannelView>> {
  return inTransaction(operator, async (outer, joined) => {
    await requireLockedPaymentChannel(outer, code, 'share');
    return changeChannel(joined, appId, 'channel.withdraw-payment-channel', async (tx, { channelId }) => {
      const former = await findPaymentChannelAuthorization(tx, channelId, code);
      if (!former) return undefined;
      await deletePaymentChannelAuthorization(tx, channelId, code);
      return { code, former };
    });
  });
}
