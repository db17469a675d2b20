import { ANY_BANK, Rejection } from '@perennial/wire';
import type { CatalogPaymentChannel } from '../../../catalog/products/catalog.js';

type PaymentChannels = ReadonlyMap<string, CatalogPaymentChannel>;

/**
 * Returns the payment channel that the request names. If it names none, returns the channel's default or only payment
 * channel.
 */
export function choosePaymentChannel(authorized: PaymentChannels, code: string | undefined): CatalogPaymentChannel {
  if (code !== undefined) {
    const named = authorized.get(code);
    if (!named) throw new Rejection('PAYMENT_CHANNEL_NOT_ALLOWED');
    return named;
  }
  const all = [...authorized.values()];
  const [only] = all.length === 1 ? all : [];
  const found = all.find(({ isDefault }) => isDefault) ?? only;
  if (!found) throw new Rejection('PAYMENT_CHANNEL_REQUIRED');
  return found;
}

/** Throws if the payment channel does not serve the given bank, or if it requires a bank code and none is given. */
export function requireServedBank(paymentChannel: CatalogPaymentChannel, bankCode: string | undefined): void {
  const { bankCodeRequired, supportedBanks } = paymentChannel;
  const served =
    bankCode === undefined ? !bankCodeRequired : supportedBanks.includes(ANY_BANK) || supportedBanks.includes(bankCode);
  if (!served) throw new Rejection('BANK_NOT_SUPPORTED');
}

/**
 * The result code if the channel is not authorized for the payment channel. In orders/create it is
 * SHARED_AGREEMENT_NOT_ALLOWED, the same code as for a payment channel that is not shareable.
 */
type UnauthorizedCode = 'SHARED_AGREEMENT_NOT_ALLOWED' | 'PAYMENT_CHANNEL_NOT_ALLOWED';

export function requireShareablePaymentChannel(
  authorized: PaymentChannels,
  code: string,
  unauthorizedCode: UnauthorizedCode,
): CatalogPaymentChannel {
  const paymentChannel = authorized.get(code);
  if (!paymentChannel) throw new Rejection(unauthorizedCode);
  if (!paymentChannel.shareEnabled) throw new Rejection('SHARED_AGREEMENT_NOT_ALLOWED');
  return paymentChannel;
}
