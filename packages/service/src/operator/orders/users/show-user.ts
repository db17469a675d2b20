import type { ChannelRegistry } from '../../../catalog/channels/channel-registry.js';
import { formatClaimNo } from '../../../subscriptions/domain/benefits/claim-numbers.js';
import { formatRefundNo } from '../../../subscriptions/domain/orders/refund-numbers.js';
import { unsealUserMobile } from '../../../subscriptions/steps/users/login-mobile.js';
import { unsealCard } from '../../../subscriptions/store/agreements/card.js';
import { findUser } from '../../../subscriptions/store/users/users-sql.js';
import { traceRead } from '../../audit/trace-read.js';
import { maskMobile, maskUserId } from '../../masking.js';
import type { Operator } from '../../operator.js';
import type { Role } from '../../people/roles.js';
import { createNotFound } from '../../rules.js';
import { describeOrder } from '../list-orders.js';
import { readOrders } from '../order-list-sql.js';
import { createNoSuchUser, hashUser, type UserInput, userSubject } from './find-user.js';
import {
  listAgreementsOfUser,
  listBindingsOfUser,
  listClaimsOfOrders,
  listMessageTimes,
  listRefundsOfOrders,
} from './user-sql.js';

const SHOWN = 200;

/** Returns the latest records of a channel's user, up to 200 of each kind, newest first. */
export async function showUser(
  operator: Operator,
  channels: ChannelRegistry,
  { appId, channelUserId }: UserInput,
  role: Role,
) {
  // Reads the channel again, because the console has no admission that would notice a new version of the channel.
  const channel = await channels.reload(appId);
  if (!channel) throw createNotFound('channel', appId);
  const { channelId } = channel;
  await traceRead(operator, 'user.open', userSubject(hashUser(channel, channelUserId)), `${appId} ${channelUserId}`, {
    appId,
  });
  return operator.database.transaction(
    async (tx) => {
      const user = await findUser(tx, channelId, channelUserId);
      const orders = await readOrders(tx, { channelId, channelUserId }, undefined, SHOWN);
      const agreements = await listAgreementsOfUser(tx, channelId, channelUserId, SHOWN);
      const bindings = await listBindingsOfUser(tx, channelId, channelUserId, SHOWN);
      if (!user && orders.length === 0 && agreements.length === 0 && bindings.length === 0) {
        throw createNoSuchUser({ appId, channelUserId });
      }
      const orderNos = orders.map(({ orderNo }) => orderNo);
      const refunds = await listRefundsOfOrders(tx, orderNos, SHOWN);
      const claims = await listClaimsOfOrders(tx, orderNos, SHOWN);
      return {
        appId,
        channelUserId: maskUserId(channelUserId, role),
        mobile: user ? maskMobile(unsealUserMobile(channel, user)) : null,
        orders: orders.map((order) => describeOrder(order, role)),
        agreements,
        bindings: bindings.map(({ agreementId, details, ...binding }) => ({
          ...binding,
          bindOrderNo: String(agreementId),
          bankMobile: maskMobile(unsealCard(channel, { agreementId, details }).bankMobile),
        })),
        messageTimes: user ? await listMessageTimes(tx, user.mobileHash) : [],
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
