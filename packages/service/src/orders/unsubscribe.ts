import { type MainOrder, type OrdersUnsubscribeRequest, Rejection } from '@perennial/wire';
import type { Action } from '../action.js';
import type { Clock } from '../clock.js';
import type { Database } from '../db/database.js';
import { endOrder } from './end.js';
import { mainOrder } from './order.js';
import { orderReference } from './reference.js';
import { findPayments, lockOrder } from './sql.js';

export function unsubscribe(database: Database, clock: Clock): Action<OrdersUnsubscribeRequest, MainOrder> {
  return async ({ channel, once, answer }, request) => {
    const reference = orderReference(request);
    return database.transaction(async (tx) => {
      const order = await lockOrder(tx, channel.channelId, reference);
      if (!order) throw new Rejection('SUBSCRIPTION_NOT_FOUND');
      if (order.status === 'INITIALIZING') throw new Rejection('SUBSCRIPTION_FIRST_PAYMENT_PENDING');
      if (order.status === 'COMPLETED') throw new Rejection('SUBSCRIPTION_ALREADY_COMPLETED');
      const by = { source: 'CHANNEL', reason: request.reason ?? null } as const;
      const ended = await endOrder(tx, order, by, clock.now());
      return once.finish(tx, answer(mainOrder(ended, await findPayments(tx, ended.orderNo), null)));
    });
  };
}
