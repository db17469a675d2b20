import { Rejection } from '@perennial/wire';
import { parseOrderNo } from '../../domain/orders/order-numbers.js';
import type { OrderReference } from '../../store/orders/orders-sql.js';

interface GivenNumbers {
  readonly orderNo?: string;
  readonly externalOrderNo?: string;
}

/**
 * Returns undefined if the text cannot be an order number. The checks of the endpoints ensure that exactly one number
 * is given.
 */
export function findOrderReference(request: GivenNumbers): OrderReference | undefined {
  if (request.externalOrderNo !== undefined) return { externalOrderNo: request.externalOrderNo };
  const orderNo = parseOrderNo(request.orderNo ?? '');
  return orderNo === undefined ? undefined : { orderNo };
}

/** Like `findOrderReference`, but throws SUBSCRIPTION_NOT_FOUND if the text cannot be an order number. */
export function readOrderReference(request: GivenNumbers): OrderReference {
  const reference = findOrderReference(request);
  if (!reference) throw new Rejection('SUBSCRIPTION_NOT_FOUND');
  return reference;
}
