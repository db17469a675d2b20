import { OutText, pageFields } from './common.js';
import { type Static, Type } from './type.js';

export const PaymentChannel = Type.Object({
  code: OutText,
  displayName: OutText,
  isDefault: Type.Boolean(),
  shareEnabled: Type.Boolean(),
  supportedBanks: Type.Array(OutText),
});
export type PaymentChannel = Static<typeof PaymentChannel>;

export const PaymentChannelsListData = Type.Object({ items: Type.Array(PaymentChannel), ...pageFields });
