import { DEFAULT_CERT_TYPE } from '../enums.js';
import { Encrypted, Text } from './common.js';
import { type Static, Type } from './type.js';

/** An agreement that the channel has made at the payment institution and shares with the service (A.2). */
export const SharedAgreement = Type.Object({
  paymentChannelCode: Text,
  sharedAgreementNo: Text,
  bankCardNoEncrypted: Encrypted,
  bankMobileEncrypted: Encrypted,
  certificateNoEncrypted: Encrypted,
  realNameEncrypted: Encrypted,
  certType: Type.Optional(Type.String({ ...Text, default: DEFAULT_CERT_TYPE })),
  channelUserId: Text,
});
export type SharedAgreement = Static<typeof SharedAgreement>;
