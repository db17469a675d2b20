import { Rejection } from '../rejection.js';
import type { OrdersCreateRequest } from './orders.js';

/** What a creation must and must not carry, by settlement mode and by where the agreement comes from. */
export function ordersCreateChecks(body: OrdersCreateRequest): void {
  if (body.settlementMode === 'CHANNEL_COLLECT') {
    forbid(body, 'bindOrderNo');
    forbid(body, 'sharedAgreement');
    requireUser(body);
    return;
  }
  if (body.bindOrderNo === undefined && body.sharedAgreement === undefined) {
    throw new Rejection('PARAM_INVALID', 'bindOrderNo or sharedAgreement is required with SVC_DEDUCT');
  }
  if (body.bindOrderNo !== undefined && body.sharedAgreement !== undefined) {
    throw new Rejection('PARAM_INVALID', 'bindOrderNo and sharedAgreement exclude each other');
  }
  if (body.sharedAgreement !== undefined) {
    requireUser(body);
    if (body.sharedAgreement.channelUserId !== body.channelUserId) {
      throw new Rejection('PARAM_INVALID', 'sharedAgreement.channelUserId differs from channelUserId');
    }
  }
}

function forbid(body: OrdersCreateRequest, field: 'bindOrderNo' | 'sharedAgreement'): void {
  if (body[field] !== undefined) throw new Rejection('PARAM_INVALID', `${field} is not allowed with CHANNEL_COLLECT`);
}

/** With bindOrderNo the user is known from the binding; otherwise the request has to say who it is. */
function requireUser(body: OrdersCreateRequest): void {
  if (body.channelUserId === undefined) throw new Rejection('PARAM_INVALID', 'channelUserId is required');
  if (body.mobileEncrypted === undefined) throw new Rejection('PARAM_INVALID', 'mobileEncrypted is required');
}
