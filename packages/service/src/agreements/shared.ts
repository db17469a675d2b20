import type { SharedAgreement } from '@perennial/wire';
import type { Channel } from '../channels/channel.js';
import type { CardDetails } from '../gateways/gateway.js';
import type { CatalogPaymentChannel } from '../products/catalog.js';
import { agreementNoOf, cardColumns, readCard, sealInstitutionNo } from './card.js';
import { requireShareable, type Unauthorized } from './payment-channel.js';
import type { AgreementRow } from './sql.js';

export interface SharedContext {
  readonly agreementId: number;
  /** Unix milliseconds. */
  readonly now: number;
  /** What the channel is authorized for. */
  readonly paymentChannels: ReadonlyMap<string, CatalogPaymentChannel>;
  /** What a payment channel that is not authorized is answered with. */
  readonly unauthorized: Unauthorized;
  /** The request's name for the sub-object. */
  readonly field: 'sharedAgreement' | 'newSharedAgreement';
}

/** Reads, checks and prepares in the order of the codes. Who has checks of its own in between calls the three itself. */
export function newSharedAgreement(channel: Channel, shared: SharedAgreement, context: SharedContext): AgreementRow {
  const card = readSharedCard(channel, shared, context.field);
  requireShareable(context.paymentChannels, shared.paymentChannelCode, context.unauthorized);
  return sharedAgreementRow(channel, shared, card, context);
}

/** Throws DECRYPT_FAILED or PARAM_INVALID. */
export function readSharedCard(channel: Channel, shared: SharedAgreement, field: SharedContext['field']): CardDetails {
  return readCard(channel, shared, `${field}.`);
}

/** A bound agreement, to be inserted by whoever needs it: nobody is asked, the channel's word counts. */
export function sharedAgreementRow(
  channel: Channel,
  shared: SharedAgreement,
  card: CardDetails,
  { agreementId, now }: Pick<SharedContext, 'agreementId' | 'now'>,
): AgreementRow {
  return {
    agreementId,
    channelId: channel.channelId,
    channelUserId: shared.channelUserId,
    paymentChannelCode: shared.paymentChannelCode,
    source: 'SHARED_FROM_CHANNEL',
    status: 'BIND_SUCCESS',
    agreementNo: agreementNoOf(agreementId),
    institutionNo: sealInstitutionNo(channel, agreementId, shared.sharedAgreementNo),
    ...cardColumns(channel, agreementId, card, undefined),
    createdAt: now,
  };
}
