import { Rejection } from '@perennial/wire';
import { parseOrderNo } from '../../domain/orders/order-numbers.js';
import type { OrderReference } from './orders-sql.js';

/** The schema's checks have seen to it that there is exactly one. A number that cannot be one is simply not found. */
export function readOrderReference(request: { orderNo?: string; externalOrderNo?: string }): OrderReference {
  if (request.externalOrderNo !== undefined) return { externalOrderNo: request.externalOrderNo };
  const orderNo = parseOrderNo(request.orderNo ?? '');
  if (orderNo === undefined) throw new Rejection('SUBSCRIPTION_NOT_FOUND');
  return { orderNo };
}
