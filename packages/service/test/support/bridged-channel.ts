import type { Operator } from '../../src/operator/operator.js';
import { createChannel } from '../../src/operator/provisioning/channels.js';
import { authorizePaymentChannel } from '../../src/operator/provisioning/payment-channel-authorizations.js';
import { createPaymentChannel } from '../../src/operator/provisioning/payment-channels.js';
import { authorizeProduct, createProduct } from '../../src/operator/provisioning/products.js';
import { PAYMENT_CHANNEL, PRODUCT } from '../operator/support.js';
import type { ChannelCredentials } from './channel-client.js';

export interface BridgedChannel {
  readonly channel: ChannelCredentials;
  /** The key shared with the bridge, in base64. */
  readonly key: string;
}

/** Creates a channel that sells MONTHLY, paid over the bridge at this address. */
export async function bridgedChannel(operator: Operator, code: string, gatewayUrl: string): Promise<BridgedChannel> {
  const { productCode } = PRODUCT;
  const { gatewayKey: key = '' } = await createPaymentChannel(operator, {
    ...PAYMENT_CHANNEL,
    code,
    gateway: 'bridge',
    gatewayUrl,
  });
  await createProduct(operator, PRODUCT);
  const channel = await createChannel(operator, { name: 'Crash', ratePerSecond: 100_000 });
  const { appId } = channel;
  await authorizeProduct(operator, { appId, productCode });
  await authorizePaymentChannel(operator, { appId, code, isDefault: true, shareEnabled: true });
  return { channel, key };
}

/**
 * Creates a payment channel with the bridge at this address and lets the channel use it. Returns the bridge's key in
 * base64.
 */
export async function attachBridge(
  operator: Operator,
  appId: string,
  code: string,
  gatewayUrl: string,
): Promise<string> {
  const bridge = { ...PAYMENT_CHANNEL, code, gateway: 'bridge', gatewayUrl };
  const { gatewayKey = '' } = await createPaymentChannel(operator, bridge);
  await authorizePaymentChannel(operator, { appId, code, shareEnabled: true });
  return gatewayKey;
}
