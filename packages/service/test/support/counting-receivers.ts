import http from 'node:http';
import { buffer } from 'node:stream/consumers';
import { HEADER_KEYS, sha256Hex, signWebhook, verifySignature } from '@perennial/wire';
import { listen } from './listen.js';

/** A push as received. */
export interface Arrival {
  readonly eventNo: number;
  readonly retryNo: number;
  /** The process id of the sending node. */
  readonly pid: number;
  readonly accepted: boolean;
}

export type Manner = 'accept' | 'refuse' | 'hang' | { readonly acceptAfterMs: number };

const ACCEPTED = '{"code":"0"}';
const REFUSED = '{"code":"500001","message":"not now"}';

/** Starts receivers for many channels. The receivers verify each signature over the raw bytes and count pushes. */
export async function countingReceivers() {
  const channels = new Map<string, { appId: string; secret: Buffer; manner: (retryNo: number) => Manner }>();
  const arrivals: Arrival[] = [];
  const forged: string[] = [];

  function receive(request: http.IncomingMessage, response: http.ServerResponse, raw: Buffer): void {
    const { url = '', headers } = request;
    const said = (name: 'appId' | 'timestamp' | 'nonce' | 'eventId' | 'signature') =>
      String(headers[HEADER_KEYS[name]]);
    const channel = channels.get(url);
    const eventId = said('eventId');
    const parts = {
      path: url,
      bodySha256: sha256Hex(raw),
      timestamp: said('timestamp'),
      nonce: said('nonce'),
      eventId,
    };
    const isGenuine =
      channel?.appId === said('appId') && verifySignature(said('signature'), signWebhook(parts, channel.secret));
    const body = JSON.parse(raw.toString());
    if (!channel || !isGenuine || body.eventId !== eventId) {
      forged.push(raw.toString());
      response.writeHead(401).end();
      return;
    }
    const { retryNo } = body;
    const manner = channel.manner(retryNo);
    const accepted = manner === 'accept' || typeof manner === 'object';
    arrivals.push({ eventNo: Number(eventId), retryNo, pid: Number(headers['x-test-process']), accepted });
    const answer = () =>
      void response.writeHead(200, { 'Content-Type': 'application/json' }).end(accepted ? ACCEPTED : REFUSED);
    if (typeof manner === 'object') setTimeout(answer, manner.acceptAfterMs);
    else if (manner !== 'hang') answer();
  }

  const server = http.createServer((request, response) => {
    // Ignores an incomplete push: its node was killed while it was sending.
    buffer(request).then(
      (raw) => receive(request, response, raw),
      () => undefined,
    );
  });
  // This timeout is longer than a node keeps a connection. If the receiver closed a connection during a push, the node
  // would repeat the push.
  server.keepAliveTimeout = 60_000;
  const port = await listen(server);

  return {
    /** In order of arrival. */
    arrivals,
    /** Bodies of forged pushes. */
    forged,
    /** Adds a receiver for a channel. `manner` decides its answer to each push. */
    add(appId: string, callbackSecret: string, manner: (retryNo: number) => Manner) {
      const path = `/${appId}`;
      channels.set(path, { appId, secret: Buffer.from(callbackSecret, 'base64'), manner });
      return `http://127.0.0.1:${port}${path}`;
    },
  };
}
