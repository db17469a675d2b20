import { Rejection } from '@perennial/wire';
import { parseOrderNo } from '../../domain/orders/order-numbers.js';
import type { OrderReference } from './orders-sql.js';

/** The schema makes sure that exactly one number is given. A text that cannot be an order's number is answered as not found. */
export function readOrderReference(request: { orderNo?: string; externalOrderNo?: string }): OrderReference {
  if (request.externalOrderNo !== undefined) return { externalOrderNo: request.externalOrderNo };
  const orderNo = parseOrderNo(request.orderNo ?? '');
  if (orderNo === undefined) throw new Rejection('SUBSCRIPTION_NOT_FOUND');
  return { orderNo };
}
