import { type CreateRequest, Rejection, type SharedAgreement } from '@perennial/wire';
import type { Channel } from '../../catalog/channels/channel.js';
import type { CardDetails } from '../../gateways/gateway.js';
import type { Queryable } from '../../platform/db/database.js';
import { requireShareablePaymentChannel } from '../../subscriptions/domain/agreements/choose-payment-channel.js';
import { type FieldReader, readPlaintext } from '../../subscriptions/domain/agreements/plaintext.js';
import {
  createSharedAgreementRow,
  readSharedAgreement,
} from '../../subscriptions/steps/agreements/shared-agreement.js';
import { checkUserMobile, createUserRow } from '../../subscriptions/steps/users/login-mobile.js';
import {
  type AgreementRow,
  type BindingRow,
  findBindingInForce,
} from '../../subscriptions/store/agreements/agreements-sql.js';
import { unsealInstitutionNo } from '../../subscriptions/store/agreements/card.js';
import type { NumberAtInstitution } from '../../subscriptions/store/agreements/same-number-sql.js';
import type { AgreementInsert } from '../../subscriptions/store/orders/new-orders-sql.js';
import type { ApiDeps } from '../api-deps.js';

/** The agreement of a mode A order, and the rows to store with the order. */
export interface AgreementForOrder {
  readonly agreementId: number;
  readonly channelUserId: string;
  readonly paymentChannelCode: string;
  /** Plaintext, for the call to the institution. */
  readonly institutionNo: string;
  readonly shared: boolean;
  /**
   * The login mobile to bind to the user, with its hash in hex. Undefined if it was already bound with the user's card.
   */
  readonly mobile: { readonly hash: string; readonly sealed: string } | undefined;
  readonly insert: AgreementInsert | null;
  /** Set if no other channel may use the shared agreement number. */
  readonly exclusiveNumber: NumberAtInstitution | null;
}

/** The customer of an order: the decrypted personal data of the request, and the binding that it names. */
export type Customer = CollectedCustomer | DeductedCustomer;

export interface CollectedCustomer {
  readonly agreement: 'of-the-channel';
  readonly channelUserId: string;
  readonly mobile: string;
}

export type DeductedCustomer =
  | { readonly agreement: 'bound'; readonly mobile: string | undefined; readonly binding: BindingRow | undefined }
  | {
      readonly agreement: 'shared';
      readonly mobile: string;
      readonly card: CardDetails;
      readonly sharedAgreement: SharedAgreement;
    };

/** Runs before the business rules, so that errors of the request itself (400001, 400002) are answered first. */
export async function readCustomer(reader: FieldReader, db: Queryable, request: CreateRequest): Promise<Customer> {
  const readMobile = (encrypted: string) => readPlaintext(reader, 'mobile', encrypted, 'mobileEncrypted');
  const { agreement, channelUserId } = request;
  if (agreement === 'of-the-channel') {
    return { agreement, channelUserId: request.channelUserId, mobile: readMobile(request.mobileEncrypted) };
  }
  if (agreement === 'shared') {
    const mobile = readMobile(request.mobileEncrypted);
    const { sharedAgreement } = request;
    const { shared, card } = readSharedAgreement(reader, sharedAgreement, 'sharedAgreement');
    return { agreement, mobile, card, sharedAgreement: shared };
  }
  const mobile = request.mobileEncrypted === undefined ? undefined : readMobile(request.mobileEncrypted);
  const binding = await findBindingInForce(db, reader.channel.channelId, request.bindOrderNo);
  if (binding && channelUserId !== undefined && channelUserId !== binding.channelUserId) {
    throw new Rejection('PARAM_INVALID', "channelUserId must equal the binding's");
  }
  return { agreement, mobile, binding };
}

/**
 * Returns the customer with the binding that has replaced the customer's binding. Returns undefined if the customer's
 * binding was not replaced.
 */
export async function followReplacedBinding(
  db: Queryable,
  channel: Channel,
  customer: DeductedCustomer,
): Promise<DeductedCustomer | undefined> {
  if (customer.agreement !== 'bound' || !customer.binding) return undefined;
  const { agreementId } = customer.binding;
  const binding = await findBindingInForce(db, channel.channelId, String(agreementId));
  return binding === undefined || binding.agreementId === agreementId ? undefined : { ...customer, binding };
}

export interface AgreementDeps extends Pick<ApiDeps, 'agreementNumbers' | 'catalog' | 'institutionNumbers' | 'clock'> {
  readonly database: Queryable;
}

export async function prepareAgreement(
  deps: AgreementDeps,
  channel: Channel,
  customer: DeductedCustomer,
): Promise<AgreementForOrder> {
  return customer.agreement === 'bound'
    ? prepareBoundAgreement(deps, channel, customer)
    : prepareSharedAgreement(deps, channel, customer);
}

/** Case A.1: the order uses the user's own, existing binding. */
async function prepareBoundAgreement(
  deps: AgreementDeps,
  channel: Channel,
  { mobile, binding: bound }: Extract<DeductedCustomer, { agreement: 'bound' }>,
): Promise<AgreementForOrder> {
  if (!bound) throw new Rejection('AGREEMENT_NOT_FOUND');
  if (bound.status !== 'BIND_SUCCESS') throw new Rejection('AGREEMENT_NOT_BOUND');
  const authorized = await deps.catalog.paymentChannels(channel);
  if (!authorized.has(bound.paymentChannelCode)) throw new Rejection('PAYMENT_CHANNEL_NOT_ALLOWED');
  if (mobile !== undefined) await checkUserMobile(deps.database, channel, bound.channelUserId, mobile);
  return {
    agreementId: bound.agreementId,
    channelUserId: bound.channelUserId,
    paymentChannelCode: bound.paymentChannelCode,
    institutionNo: unsealInstitutionNo(channel, bound),
    shared: false,
    mobile: undefined,
    insert: null,
    exclusiveNumber: null,
  };
}

/** Case A.2: the order uses the channel's agreement, which the request contains. */
async function prepareSharedAgreement(
  { agreementNumbers, catalog, institutionNumbers, clock }: AgreementDeps,
  channel: Channel,
  { sharedAgreement: shared, card, mobile }: Extract<DeductedCustomer, { agreement: 'shared' }>,
): Promise<AgreementForOrder> {
  const { paymentChannelCode: code } = shared;
  const authorized = await catalog.paymentChannels(channel);
  const { commonNumbers } = requireShareablePaymentChannel(authorized, code, 'SHARED_AGREEMENT_NOT_ALLOWED');
  const agreementId = await agreementNumbers.next();
  const row = createSharedAgreementRow(channel, shared, card, { agreementId, now: clock.now() });
  const user = createUserRow(channel, shared.channelUserId, mobile);
  const institutionHash = await institutionNumbers.hash(shared.sharedAgreementNo);
  return {
    agreementId: row.agreementId,
    channelUserId: shared.channelUserId,
    paymentChannelCode: code,
    institutionNo: shared.sharedAgreementNo,
    shared: true,
    mobile: { hash: user.mobileHash.toString('hex'), sealed: user.mobile },
    insert: toAgreementInsert(row, institutionHash),
    exclusiveNumber: commonNumbers ? null : { paymentChannelCode: code, institutionHash },
  };
}

function toAgreementInsert(row: AgreementRow, institutionHash: Buffer): AgreementInsert {
  return {
    agreement_no: row.agreementNo ?? '',
    institution_no: row.institutionNo ?? '',
    institution_hash: institutionHash.toString('hex'),
    card_hash: row.cardHash.toString('hex'),
    certificate_hash: row.certificateHash.toString('hex'),
    card_tail: row.cardTail,
    details: row.details,
  };
}
