import { Rejection } from '@perennial/wire';
import type { ActionContext } from '../catalog/action.js';
import { type Answer, successAnswer } from '../platform/answers/answer.js';
import { type OrderRenderDeps, renderFoundOrder } from '../subscriptions/steps/orders/render-order.js';
import type { OrderText } from '../subscriptions/store/orders/order-texts-sql.js';

/** Renders the order that the admission statement has already read. */
export function createOrdersQueryAction(deps: OrderRenderDeps) {
  return async (
    { channel, database }: ActionContext<never>,
    _request: unknown,
    found: OrderText | undefined,
  ): Promise<Answer> => {
    if (!found) throw new Rejection('SUBSCRIPTION_NOT_FOUND');
    return successAnswer(renderFoundOrder(deps, database, channel, found));
  };
}
