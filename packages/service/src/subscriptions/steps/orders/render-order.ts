import type { Channel } from '../../../catalog/channels/channel.js';
import type { Pieces } from '../../../platform/answers/answer.js';
import type { Clock } from '../../../platform/clock.js';
import type { Queryable } from '../../../platform/db/database.js';
import { countShownPeriods, createOrderHead } from '../../domain/orders/order.js';
import { createOrderDescription, unstartedRuns } from '../../domain/orders/order-description.js';
import {
  type OrderParts,
  partsOfDescription,
  renderOrder,
  renderOrderInPieces,
} from '../../store/orders/order-text.js';
import type { OrderText } from '../../store/orders/order-texts-sql.js';
import { findOrderWithPayments } from '../../store/orders/orders-sql.js';
import type { RedeemLinks } from '../../store/orders/redeem-links.js';

export interface OrderRenderDeps {
  readonly clock: Clock;
  readonly links: RedeemLinks;
}

/** An order that a read has found, as its channel sees it. */
export function renderFoundOrder(
  deps: OrderRenderDeps,
  database: Queryable,
  channel: Channel,
  found: OrderText,
): string | Pieces {
  const { order, started } = found;
  if (started === null) return renderWholeOrder(deps, database, channel, order.orderNo);
  const head = createOrderHead(order);
  const terms = deps.links.termsFor(found);
  const redeemUrl = terms && deps.links.sign(channel, head.orderNo, terms);
  return renderOrder({ head, redeemUrl, started, periods: unstartedRuns(order) }, countShownPeriods(order));
}

/** With all that it has, in one statement and so as of one moment, when the caller has read what comes before it. */
async function* renderWholeOrder(deps: OrderRenderDeps, database: Queryable, channel: Channel, orderNo: number) {
  yield* renderOrderInPieces(await findWholeOrder(deps, database, channel, orderNo));
}

/** Apart from its text, so that the rows are not held until that is read. */
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
