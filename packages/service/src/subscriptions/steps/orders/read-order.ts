import type { Channel } from '../../../catalog/channels/channel.js';
import type { TextPieces } from '../../../platform/answers/answer.js';
import type { Clock } from '../../../platform/clock.js';
import type { Queryable } from '../../../platform/db/database.js';
import { derivedRuns, describeOrder } from '../../domain/orders/description.js';
import { orderHead, periodCount } from '../../domain/orders/order.js';
import type { OrderText } from '../../store/orders/query-sql.js';
import type { RedeemLinks } from '../../store/orders/redeem.js';
import { findOrder } from '../../store/orders/sql.js';
import { describedParts, type OrderParts, orderPieces, orderText } from '../../store/orders/text.js';

export interface ReadDeps {
  readonly clock: Clock;
  readonly links: RedeemLinks;
}

/** An order that a read has found, as its channel sees it. */
export function readOrder(
  deps: ReadDeps,
  database: Queryable,
  channel: Channel,
  found: OrderText,
): string | TextPieces {
  const { order, started } = found;
  if (started === null) return readWhole(deps, database, channel, order.orderNo);
  const head = orderHead(order);
  const terms = deps.links.terms(found);
  const redeemUrl = terms && deps.links.sign(channel, head.orderNo, terms);
  return orderText({ head, redeemUrl, started, periods: derivedRuns(order) }, periodCount(order));
}

/** With all that it has, in one statement and so as of one moment, when the caller has read what comes before it. */
async function* readWhole(deps: ReadDeps, database: Queryable, channel: Channel, orderNo: number) {
  yield* orderPieces(await findWhole(deps, database, channel, orderNo));
}

/** Apart from its text, so that the rows are not held until that is read. */
async function findWhole(
  { clock, links }: ReadDeps,
  database: Queryable,
  channel: Channel,
  orderNo: number,
): Promise<OrderParts> {
  const found = await findOrder(database, channel.channelId, { orderNo }, clock.now());
  if (!found) throw new Error(`order ${orderNo} was found and is not there`);
  return describedParts(links, channel, describeOrder(found.order, found.payments, links.terms(found)));
}
