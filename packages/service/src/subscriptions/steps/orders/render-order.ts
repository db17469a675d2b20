import type { Channel } from '../../../catalog/channels/channel.js';
import type { TextPieces } from '../../../platform/answers/answer.js';
import type { Clock } from '../../../platform/clock.js';
import type { Queryable } from '../../../platform/db/database.js';
import { countShownPeriods, createOrderHead } from '../../domain/orders/order.js';
import { createOrderDescription, unstartedRuns } from '../../domain/orders/order-description.js';
import {
  type OrderParts,
  partsOfDescription,
  renderOrder,
  renderOrderInPieces,
} from '../../domain/orders/order-text.js';
import type { RedeemLinks } from '../../domain/orders/redeem-links.js';
import type { OrderText } from '../../store/orders/order-texts-sql.js';
import { findOrderWithPayments } from '../../store/orders/orders-sql.js';

export interface OrderRenderDeps {
  readonly clock: Clock;
  readonly links: RedeemLinks;
}

export function renderFoundOrder(
  deps: OrderRenderDeps,
  database: Queryable,
  channel: Channel,
  found: OrderText,
): string | TextPieces {
  const { order, started } = found;
  if (started === null) return renderWholeOrder(deps, database, channel, order.orderNo);
  const head = createOrderHead(order);
  const terms = deps.links.termsFor(found);
  const redeemUrl = terms && deps.links.sign(channel, head.orderNo, terms);
  return renderOrder({ head, redeemUrl, started, periods: unstartedRuns(order) }, countShownPeriods(order));
}

/** Reads the order with all its periods. Does so only when the caller has received the preceding part of the answer. */
async function* renderWholeOrder(deps: OrderRenderDeps, database: Queryable, channel: Channel, orderNo: number) {
  yield* renderOrderInPieces(await findWholeOrder(deps, database, channel, orderNo));
}

/** A separate function, so that the rows it has read can be freed before the text is sent. */
async function findWholeOrder(
  { clock, links }: OrderRenderDeps,
  database: Queryable,
  channel: Channel,
  orderNo: number,
): Promise<OrderParts> {
  const found = await findOrderWithPayments(database, channel.channelId, { orderNo }, clock.now());
  if (!found) throw new Error(`order ${orderNo} was found and is not there`);
  return partsOfDescription(links, channel, createOrderDescription(found.order, found.payments, links.termsFor(found)));
}
