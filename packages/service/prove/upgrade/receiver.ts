import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { HEADER_KEYS, sha256Hex, signWebhook, verifySignature } from '@perennial/wire';
import { newAuthority } from '../../test/webhooks/certificates.js';

/** The public address that receiver-address.mjs redirects to this machine. */
const ADDRESS = '192.0.2.1';

export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

/** Receives the events of many channels, verifies each signature over the raw bytes, and accepts all authentic ones. */
export async function startReceiver() {
  const authority = newAuthority();
  const secrets = new Map<string, Buffer>();
  const received = new Set<number>();
  const pushes = new Map<string, number>();
  const forged: string[] = [];
  const server = https.createServer(authority.issue({ for: [ADDRESS] }), async (request, response) => {
    const raw = await buffer(request);
    const { url = '', headers } = request;
    const said = (name: 'timestamp' | 'nonce' | 'eventId' | 'signature') => String(headers[HEADER_KEYS[name]]);
    const secret = secrets.get(url);
    const eventId = said('eventId');
    const parts = {
      path: url,
      bodySha256: sha256Hex(raw),
      timestamp: said('timestamp'),
      nonce: said('nonce'),
      eventId,
    };
    if (!secret || !verifySignature(said('signature'), signWebhook(parts, secret))) {
      forged.push(`a push to ${url} is not signed as it should be`);
      response.writeHead(401).end();
      return;
    }
    received.add(Number.parseInt(eventId, 10));
    pushes.set(eventId, (pushes.get(eventId) ?? 0) + 1);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"code":"0"}');
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    /** The certificate authority that a node has to trust. */
    authority: authority.cert,
    /** The numbers of the received events. Periods that were voided together share one event number. */
    received: received as ReadonlySet<number>,
    forged: forged as readonly string[],
    repeated: () => [...pushes.values()].filter((times) => times > 1).length,
    add(appId: string, callbackSecret: string): string {
      secrets.set(`/${appId}`, Buffer.from(callbackSecret, 'base64'));
      return `https://${ADDRESS}:${port}/${appId}`;
    },
    close(): void {
      server.closeAllConnections();
      server.close();
    },
  };
}
