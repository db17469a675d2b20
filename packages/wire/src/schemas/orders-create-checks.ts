import { MAX_STRING_LENGTH } from '../limits.js';
import { Rejection } from '../rejection.js';
import { STORABLE } from './common.js';
import type { OrdersCreateRequest } from './orders.js';

/** What a creation says of its agreement and its user, by who collects and where the agreement comes from. */
export type CreateRequest = ReturnType<typeof readCreateRequest>;

interface KnownUser {
  readonly channelUserId: string;
  readonly mobileEncrypted: string;
}

/** Which of the three it is. Throws PARAM_INVALID for what it must not carry, or lacks. */
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
    throw new Rejection('PARAM_INVALID', 'bindOrderNo and sharedAgreement exclude each other');
  }
  requireUser(body);
  const { channelUserId, mobileEncrypted } = body;
  if (sharedAgreement.channelUserId !== channelUserId) {
    throw new Rejection('PARAM_INVALID', 'sharedAgreement.channelUserId differs from channelUserId');
  }
  return { agreement: 'shared', channelUserId, mobileEncrypted, sharedAgreement } as const;
}

export function ordersCreateChecks(body: OrdersCreateRequest): void {
  readCreateRequest(body);
}

const forbidden = (field: string) => new Rejection('PARAM_INVALID', `${field} is not allowed with CHANNEL_COLLECT`);

/** With bindOrderNo the user is known from the binding; otherwise the request has to say who it is. */
function requireUser(body: OrdersCreateRequest): asserts body is OrdersCreateRequest & KnownUser {
  if (body.channelUserId === undefined) throw new Rejection('PARAM_INVALID', 'channelUserId is required');
  if (body.mobileEncrypted === undefined) throw new Rejection('PARAM_INVALID', 'mobileEncrypted is required');
}

/** As any other text of a request, in the words that its schema would have. */
function checkAgreementReference(value: unknown): void {
  // The schema allows anything here, null too, which counts as absent.
  if (value === undefined || value === null) return;
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
