import { MAX_STRING_LENGTH } from '../limits.js';
import { Rejection } from '../rejection.js';
import { STORABLE } from './common.js';
import type { OrdersCreateRequest } from './orders.js';

/** What a creation must and must not carry, by settlement mode and by where the agreement comes from. */
export function ordersCreateChecks(body: OrdersCreateRequest): void {
  if (body.settlementMode === 'CHANNEL_COLLECT') {
    forbid(body, 'bindOrderNo');
    forbid(body, 'sharedAgreement');
    requireUser(body);
    checkReference(body.channelAgreementRef);
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

/** As any other text of a request, in the words that its schema would have. */
function checkReference(value: unknown): void {
  if (value === undefined) return;
  if (typeof value !== 'string') throw new Rejection('PARAM_INVALID', 'channelAgreementRef must be string');
  // A code point takes two places at most: what is longer than that need not be taken apart to be counted.
  if (value.length > 2 * MAX_STRING_LENGTH || [...value].length > MAX_STRING_LENGTH) {
    const most = `must NOT have more than ${MAX_STRING_LENGTH} characters`;
    throw new Rejection('PARAM_INVALID', `channelAgreementRef ${most}`);
  }
  if (!new RegExp(STORABLE, 'u').test(value)) {
    throw new Rejection('PARAM_INVALID', 'channelAgreementRef holds a character that is not allowed');
  }
}
