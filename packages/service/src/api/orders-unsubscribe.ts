import { maskCardNumbers, type OrdersUnsubscribeRequest, Rejection } from '@perennial/wire';
import type { Action } from '../catalog/action.js';
import type { Clock } from '../platform/clock.js';
import { createOrderDescription, type OrderDescription } from '../subscriptions/domain/orders/order-description.js';
import { isLongAnswer } from '../subscriptions/domain/orders/order-text.js';
import { endOrder } from '../subscriptions/steps/ending/end-orders.js';
import { readOrderReference } from '../subscriptions/steps/orders/order-reference.js';
import { findPayments, lockOrderOfChannel } from '../subscriptions/store/orders/orders-sql.js';

export function createOrdersUnsubscribeAction(clock: Clock): Action<OrdersUnsubscribeRequest, OrderDescription> {
  return async ({ channel, database, once, answer, place }, request) => {
    const reference = readOrderReference(request);
    return database.transaction(async (tx) => {
      const order = await lockOrderOfChannel(tx, channel.channelId, reference);
      if (!order) throw new Rejection('SUBSCRIPTION_NOT_FOUND');
      if (order.status === 'INITIALIZING') throw new Rejection('SUBSCRIPTION_FIRST_PAYMENT_PENDING');
      if (order.status === 'COMPLETED') throw new Rejection('SUBSCRIPTION_ALREADY_COMPLETED');
      if (isLongAnswer(order.totalCycles)) place.reserve();
      const reason = request.reason === undefined ? null : maskCardNumbers(request.reason);
      const by = { source: 'CHANNEL', reason } as const;
      const ended = await endOrder(tx, order, by, clock.now());
      const payments = await findPayments(tx, ended.orderNo);
      return once.finish(tx, answer(createOrderDescription(ended, payments, null)));
    });
  };
}
