import type { Channel } from '../../catalog/channels/channel.js';
import type { ChannelRegistry } from '../../catalog/channels/channel-registry.js';
import { formatClaimNo } from '../../subscriptions/domain/benefits/claim-numbers.js';
import { formatRefundNo } from '../../subscriptions/domain/orders/refund-numbers.js';
import { unsealUserMobile } from '../../subscriptions/steps/users/login-mobile.js';
import { findUser } from '../../subscriptions/store/users/users-sql.js';
import { maskMobile, maskUserId } from '../masking.js';
import { NotFoundError, type Operator, refusal } from '../operator.js';
import type { Role } from '../people/roles.js';
import { createNotFound, quoted } from '../rules.js';
import { describeOrder, type OrderLine } from './list-orders.js';
import { readOrders } from './order-list-sql.js';
import {
  type ClaimOfUser,
  listAgreementsOfUser,
  listClaimsOfOrders,
  listRefundsOfOrders,
  type RefundOfUser,
  type UserAgreement,
} from './user-sql.js';

export interface UserInput {
  readonly appId: string;
  readonly channelUserId: string;
}

export interface UserView {
  readonly appId: string;
  /** Masked for viewers. */
  readonly channelUserId: string;
  /** With the tail only. Null when the user has none. */
  readonly mobile: string | null;
  readonly orders: OrderLine[];
  readonly agreements: UserAgreement[];
  readonly refunds: (Omit<RefundOfUser, 'orderNo' | 'refundSeq'> & {
    readonly refundNo: string;
    readonly orderNo: string;
  })[];
  readonly claims: (Omit<ClaimOfUser, 'orderNo' | 'position'> & {
    readonly claimNo: string;
    readonly orderNo: string;
  })[];
}

/** More than a person reads at once. */
const SHOWN = 200;

/** Everything of one user of a channel, the newest first, as of one moment. */
export async function showUser(
  operator: Operator,
  channels: ChannelRegistry,
  input: UserInput,
  role: Role,
): Promise<UserView> {
  const { appId, channelUserId } = input;
  const channel = await channels.get(appId);
  if (!channel) throw createNotFound('channel', appId);
  const { channelId } = channel;
  return operator.database.transaction(
    async (tx) => {
      const user = await findUser(tx, channelId, channelUserId);
      const walk = { after: undefined, orders: SHOWN };
      const { found: orders } = await readOrders(tx, { channelId, channelUserId }, walk, SHOWN);
      const agreements = await listAgreementsOfUser(tx, channelId, channelUserId, SHOWN);
      if (!user && orders.length === 0 && agreements.length === 0) {
        throw refusal('no-such-user', NotFoundError)`there is no user of channel ${appId} ${quoted(channelUserId)}`;
      }
      const orderNos = orders.map(({ orderNo }) => orderNo);
      const refunds = await listRefundsOfOrders(tx, orderNos, SHOWN);
      const claims = await listClaimsOfOrders(tx, orderNos, SHOWN);
      return {
        appId,
        channelUserId: maskUserId(channelUserId, role),
        mobile: user ? maskMobile(unsealUserMobile(channel satisfies Channel, user)) : null,
        orders: orders.map((order) => describeOrder(order, role)),
        agreements,
        refunds: refunds.map(({ refundSeq, ...refund }) => ({
          ...refund,
          refundNo: formatRefundNo({ ...refund, refundSeq }),
          orderNo: String(refund.orderNo),
        })),
        claims: claims.map(({ position, ...claim }) => ({
          ...claim,
          claimNo: formatClaimNo({ ...claim, position }),
          orderNo: String(claim.orderNo),
        })),
      };
    },
    { readOnly: true },
  );
}
