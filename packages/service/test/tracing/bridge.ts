import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { attachBridge } from '../support/bridged-channel.js';
import type { ChannelClient } from '../support/channel-client.js';
import { requestAt, unique } from '../support/demo.js';
import type { TestService } from '../support/service.js';

/** Starts a bridge whose answers cannot be trusted. Tests look at the requests it received. */
export async function silentBridge(service: TestService, channel: ChannelClient) {
  /** The received requests, in order. */
  const calls: { readonly operation: string; readonly headers: http.IncomingHttpHeaders }[] = [];
  const server = http.createServer((request, response) => {
    calls.push({ operation: (request.url ?? '').slice(1), headers: request.headers });
    request.resume();
    // Answers /handshake like a bridge that does not know this operation. All other requests fail.
    response.statusCode = request.url === '/handshake' ? 404 : 500;
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const code = 'SILENT';
  await attachBridge(service.operator, channel.credentials.appId, code, `http://127.0.0.1:${port}`);
  return {
    calls,
    /** Creates an order, whose first debit goes to the bridge. */
    debit(headers: Record<string, string>) {
      return channel.call('orders/create', requestAt(channel, code), { headers, requestId: unique('traced') });
    },
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

export type SilentBridge = Awaited<ReturnType<typeof silentBridge>>;
