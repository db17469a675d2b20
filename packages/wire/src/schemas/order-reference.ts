import { Rejection } from '../rejection.js';
import { Text } from './common.js';
import { Type } from './type.js';

/** The fields that identify an order, by the service's number or by the channel's own number. */
export const orderReferenceFields = {
  orderNo: Type.Optional(Text),
  externalOrderNo: Type.Optional(Text),
};

export interface OrderReference {
  orderNo?: string;
  externalOrderNo?: string;
}

export function orderReferenceChecks(body: OrderReference): void {
  if (body.orderNo === undefined && body.externalOrderNo === undefined) {
    throw new Rejection('PARAM_INVALID', 'orderNo or externalOrderNo is required');
  }
  if (body.orderNo !== undefined && body.externalOrderNo !== undefined) {
    throw new Rejection('PARAM_INVALID', 'orderNo and externalOrderNo are mutually exclusive');
  }
}
