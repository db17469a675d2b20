import { createChannelRegistry } from '../../../catalog/channels/channel-registry.js';
import type { Queryable } from '../../../platform/db/database.js';
import type { Order } from '../../../subscriptions/domain/orders/order.js';
import { unsealUserMobile } from '../../../subscriptions/steps/users/login-mobile.js';
import { findUser } from '../../../subscriptions/store/users/users-sql.js';
import { recordLimited } from '../../audit/trace-read.js';
import { inTransaction, type Operator } from '../../operator.js';
import { requireName } from '../../rules.js';
import { requireOrder } from '../show-order.js';

/** Reveals the user of an order to an operator who gives a reason. Records the reason in the audit log first. */
export async function unmaskUser(operator: Operator, input: { readonly orderNo: string; readonly reason: string }) {
  const reason = requireName('the reason', input.reason);
  return inTransaction(operator, async (tx) => {
    const order = await requireOrder(tx, { orderNo: input.orderNo });
    const mobile = await findMobileOf(operator, tx, order);
    const { actor } = operator;
    await recordLimited(tx, { actor, action: 'order.unmask', subject: String(order.orderNo), detail: { reason } });
    return { mobile, channelUserId: order.channelUserId };
  });
}

/** Returns the mobile number in clear. Null if none is stored. */
export async function findMobileOf(
  { vault }: Operator,
  db: Queryable,
  { channelId, channelUserId }: Pick<Order, 'channelId' | 'channelUserId'>,
): Promise<string | null> {
  const user = await findUser(db, channelId, channelUserId);
  return user ? unsealUserMobile(await createChannelRegistry(db, vault).getById(channelId), user) : null;
}
