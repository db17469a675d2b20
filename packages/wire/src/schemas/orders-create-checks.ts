import { MAX_STRING_LENGTH } from '../limits.js';
import { Rejection } from '../rejection.js';
import { STORABLE } from './common.js';
import type { OrdersCreateRequest } from './orders.js';

/** The agreement and the user of a new order, in one of three forms. */
export type CreateRequest = ReturnType<typeof readCreateRequest>;

interface KnownUser {
  readonly channelUserId: string;
  readonly mobileEncrypted: string;
}

/** Returns which of the three forms the request has. Throws PARAM_INVALID if its fields do not fit the form. */
export function readCreateRequest(body: OrdersCreateRequest) {
  const { bindOrderNo, sharedAgreement } = body;
  if (body.settlementMode === 'CHANNEL_COLLECT') {
    if (bindOrderNo !== undefined) throw forbidden('bindOrderNo');
    if (sharedAgreement !== undefined) throw forbidden('sharedAgreement');
    requireUser(body);
    checkAgreementReference(body.channelAgreementRef);
    const { channelUserId, mobileEncrypted } = body;
    return { agreement: 'of-the-channel', channelUserId, mobileEncrypted } as const;
  }
  if (sharedAgreement === undefined) {
    const { channelUserId, mobileEncrypted } = body;
    if (bindOrderNo !== undefined) return { agreement: 'bound', bindOrderNo, channelUserId, mobileEncrypted } as const;
    throw new Rejection('PARAM_INVALID', 'bindOrderNo or sharedAgreement is required with SVC_DEDUCT');
  }
  if (bindOrderNo !== undefined) {
    throw new Rejection('PARAM_INVALID', 'bindOrderNo and sharedAgreement are mutually exclusive');
  }
  requireUser(body);
  const { channelUserId, mobileEncrypted } = body;
  if (sharedAgreement.channelUserId !== channelUserId) {
    throw new Rejection('PARAM_INVALID', 'sharedAgreement.channelUserId must equal channelUserId');
  }
  return { agreement: 'shared', channelUserId, mobileEncrypted, sharedAgreement } as const;
}

export function ordersCreateChecks(body: OrdersCreateRequest): void {
  readCreateRequest(body);
}

const forbidden = (field: string) => new Rejection('PARAM_INVALID', `${field} is not allowed with CHANNEL_COLLECT`);

/** Throws unless the request names its user. Not called with bindOrderNo, because the binding has a user. */
function requireUser(body: OrdersCreateRequest): asserts body is OrdersCreateRequest & KnownUser {
  if (body.channelUserId === undefined) throw new Rejection('PARAM_INVALID', 'channelUserId is required');
  if (body.mobileEncrypted === undefined) throw new Rejection('PARAM_INVALID', 'mobileEncrypted is required');
}

/**
 * Checks that channelAgreementRef, if present, is a text of allowed length and characters. It may be empty. The messages
 * are those of the schema validator.
 */
function checkAgreementReference(value: unknown): void {
  // The schema allows any value. null counts as absent.
  if (value === undefined || value === null) return;
  if (typeof value !== 'string') throw new Rejection('PARAM_INVALID', 'channelAgreementRef must be string');
  // A code point has at most two UTF-16 units, so text of more than twice the limit is too long and is not counted.
  if (value.length > 2 * MAX_STRING_LENGTH || [...value].length > MAX_STRING_LENGTH) {
    const most = `must NOT have more than ${MAX_STRING_LENGTH} characters`;
    throw new Rejection('PARAM_INVALID', `channelAgreementRef ${most}`);
  }
  if (!new RegExp(STORABLE, 'u').test(value)) {
    throw new Rejection('PARAM_INVALID', 'channelAgreementRef contains a character that is not allowed');
  }
}
