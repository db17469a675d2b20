import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { authorizePaymentChannel } from '../../src/operator/provisioning/payment-channel-authorizations.js';
import { createPaymentChannel } from '../../src/operator/provisioning/payment-channels.js';
import type { ChannelClient } from '../support/channel-client.js';
import { sharedAgreement, sharedRequest, unique } from '../support/demo.js';
import type { TestService } from '../support/service.js';

export interface SilentBridge {
  /** The headers of what came, in its order. */
  readonly calls: { readonly operation: string; readonly headers: http.IncomingHttpHeaders }[];
  /** A first debit over it. */
  debit(headers: Record<string, string>): ReturnType<ChannelClient['call']>;
  close(): Promise<void>;
}

/** A bridge whose answers nobody can trust: what counts is what it was sent. */
export async function silentBridge(service: TestService, channel: ChannelClient): Promise<SilentBridge> {
  const calls: SilentBridge['calls'] = [];
  const server = http.createServer((request, response) => {
    calls.push({ operation: (request.url ?? '').slice(1), headers: request.headers });
    request.resume();
    // As a bridge that does not know the handshake; everything else fails.
    response.statusCode = request.url === '/handshake' ? 404 : 500;
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const code = 'SILENT';
  await createPaymentChannel(service.operator, {
    code,
    gateway: 'bridge',
    gatewayUrl: `http://127.0.0.1:${port}`,
    displayName: 'Silent',
    supportedBanks: ['*'],
  });
  const { appId } = channel.credentials;
  await authorizePaymentChannel(service.operator, { appId, code, shareEnabled: true });
  return {
    calls,
    debit(headers) {
      const channelUserId = unique('user');
      const agreement = sharedAgreement(channel, channelUserId, { paymentChannelCode: code });
      const request = sharedRequest(channel, { channelUserId, sharedAgreement: agreement });
      return channel.call('orders/create', request, { headers, requestId: unique('traced') });
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
