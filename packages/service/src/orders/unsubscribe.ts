import { type MainOrder, type OrdersUnsubscribeRequest, Rejection } from '@perennial/wire';
import type { Action } from '../action.js';
import type { Clock } from '../clock.js';
import { endOrder } from './end.js';
import { mainOrder } from './order.js';
import { orderReference } from './reference.js';
import { lockOrder } from './sql.js';

export function unsubscribe(clock: Clock): Action<OrdersUnsubscribeRequest, MainOrder> {
  return async ({ channel, database, once, answer }, request) => {
    const reference = orderReference(request);
    return database.transaction(async (tx) => {
      const order = await lockOrder(tx, channel.channelId, reference);
      if (!order) throw new Rejection('SUBSCRIPTION_NOT_FOUND');
      if (order.status === 'INITIALIZING') throw new Rejection('SUBSCRIPTION_FIRST_PAYMENT_PENDING');
      if (order.status === 'COMPLETED') throw new Rejection('SUBSCRIPTION_ALREADY_COMPLETED');
      const by = { source: 'CHANNEL', reason: request.reason ?? null } as const;
      const ended = await endOrder(tx, channel, order, by, clock.now());
      return once.finish(tx, answer(mainOrder(ended.order, ended.payments, null)));
    });
  };
}
