import { Rejection } from '@perennial/wire';
import { parseOrderNo } from '../../domain/orders/order-numbers.js';
import type { OrderReference } from '../../store/orders/orders-sql.js';

interface GivenNumbers {
  readonly orderNo?: string;
  readonly externalOrderNo?: string;
}

/** The schema makes sure that exactly one number is given. Undefined for a text that cannot be an order's number. */
export function findOrderReference(request: GivenNumbers): OrderReference | undefined {
  if (request.externalOrderNo !== undefined) return { externalOrderNo: request.externalOrderNo };
  const orderNo = parseOrderNo(request.orderNo ?? '');
  return orderNo === undefined ? undefined : { orderNo };
}

/** The same; what cannot be an order's number is answered as not found. */
export function readOrderReference(request: GivenNumbers): OrderReference {
  const reference = findOrderReference(request);
  if (!reference) throw new Rejection('SUBSCRIPTION_NOT_FOUND');
  return reference;
}
