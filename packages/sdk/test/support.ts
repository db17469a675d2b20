import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { sha256Hex, signRequest, signWebhook } from '@perennial/wire';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { PerennialClient, type PerennialClientOptions, type ResponseNotice, type WebhookEvent } from '../src/index.js';

export const SECRETS = {
  appSecret: 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=',
  aesKey: 'gIGCg4SFhoeIiYqLjI2Oj5CRkpOUlZaXmJmam5ydnp8=',
  callbackSecret: 'QEFCQ0RFRkdISUpLTE1OT1BRUlNUVVZXWFlaW1xdXl8=',
};

export const NOW = 1_767_225_600_000;

/** A valid order. */
export const ORDER = {
  settlementMode: 'CHANNEL_COLLECT',
  externalOrderNo: 'order-1',
  productCode: 'TEST_SPU_001',
  channelUserId: 'user-1',
  mobile: '13800000001',
} as const;

export const paymentEvent = (eventId: string, mobile: string | null = '13800000001'): WebhookEvent => ({
  eventId,
  eventType: 'payment.status.changed',
  occurredAt: '2026-01-01 08:00:00',
  retryNo: 0,
  data: {
    orderNo: '700000000000001',
    externalOrderNo: 'order-1',
    paymentOrderNo: '7000000000000010001',
    channelUserId: 'user-1',
    cycleNo: 1,
    expectPayTime: '2026-01-01 08:00:00',
    paidAt: '2026-01-01 08:00:00',
    amountCent: 1990,
    refundTime: null,
    refundAmountCent: 0,
    paymentStatus: 'SUCCESS',
    agreementShareFlag: mobile !== null,
    mobile,
  },
});

/** Signs a body that the service would never send. */
export function signText(body: string, path: string, eventId: string, now: number): Record<string, string> {
  const [timestamp, nonce] = [String(now), '0123456789abcdef0123456789abcdef'];
  const parts = { path, bodySha256: sha256Hex(Buffer.from(body)), timestamp, nonce, eventId };
  return {
    'Content-Type': 'application/json',
    'X-SVC-Timestamp': timestamp,
    'X-SVC-Nonce': nonce,
    'X-SVC-Event-Id': eventId,
    'X-SVC-Signature': signWebhook(parts, Buffer.from(SECRETS.callbackSecret, 'base64')),
  };
}

export const deepEvent = (eventId: string, levels: number): string =>
  `{"eventId":"${eventId}","eventType":"of.tomorrow","data":{"deep":${'['.repeat(levels)}${']'.repeat(levels)}}}`;

export interface Asked {
  readonly path: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
}

/** The server's reaction to a request: an answer, or none. */
export type Move = (asked: Asked, response: http.ServerResponse) => void;

export const answer =
  (
    status: number,
    code: string,
    more: { data?: unknown; headers?: Record<string, string>; message?: string } = {},
  ): Move =>
  ({ headers }, response) => {
    const envelope = {
      code,
      message: more.message ?? 'said by the test',
      data: more.data ?? null,
      requestId: headers['x-svc-request-id'],
      timestamp: '2026-01-01 08:00:00',
      success: code === '0',
    };
    response.writeHead(status, { 'Content-Type': 'application/json', ...more.headers }).end(JSON.stringify(envelope));
  };
export const ok = (data: unknown = { orderNo: '1' }): Move => answer(200, '0', { data });
export const reset: Move = (_, response) => {
  response.socket?.destroy();
};
export const silence: Move = () => undefined;

export interface Peer {
  readonly baseUrl: string;
  /** The requests received, without token requests. */
  readonly asked: Asked[];
  readonly tokensAsked: Asked[];
  /** The nonces of all requests. */
  readonly nonces: string[];
  /** The paths of requests with a wrong signature. */
  readonly wronglySigned: string[];
  /**
   * Sets the reactions to the next requests, without token requests. The last reaction is used for all further
   * requests.
   */
  play(...moves: Move[]): void;
  /** Clears the records, and makes the fake service answer successfully again. */
  startAnew(): void;
  token: Move;
  close(): Promise<void>;
}

/** The fake service that the current test file uses. */
export let peer: Peer;

/** Starts a fake service for a test file and resets it before each test. */
export function usePeer(): void {
  beforeAll(async () => {
    peer = await startPeer();
  });
  afterAll(() => peer.close());
  beforeEach(() => peer.startAnew());
}

/** Starts a fake service over real HTTP. It reacts as the test says and verifies each signature. */
async function startPeer(): Promise<Peer> {
  let moves: Move[] = [ok()];
  const server = http.createServer(async (request, response) => {
    const asked = { path: request.url ?? '', headers: request.headers, body: await text(request) };
    look(started, asked);
    if (asked.path === '/openapi/v1/auth/token') {
      started.tokensAsked.push(asked);
      return started.token(asked, response);
    }
    started.asked.push(asked);
    const move = moves.length > 1 ? moves.shift() : moves[0];
    move?.(asked, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const started: Peer = {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: [],
    tokensAsked: [],
    nonces: [],
    wronglySigned: [],
    play(...next) {
      moves = next;
    },
    startAnew() {
      for (const kept of [started.asked, started.tokensAsked, started.nonces]) kept.length = 0;
      started.play(ok());
    },
    token: (asked, response) =>
      ok({ accessToken: `token-${started.tokensAsked.length}`, expiresIn: '7200', expiresAt: '' })(asked, response),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return started;
}

function look(peer: Peer, { path, headers, body }: Asked): void {
  const header = (name: string) => String(headers[name]);
  const parts = {
    path,
    query: '',
    bodySha256: sha256Hex(Buffer.from(body)),
    timestamp: header('x-svc-timestamp'),
    nonce: header('x-svc-nonce'),
    requestId: header('x-svc-request-id'),
  };
  peer.nonces.push(parts.nonce);
  const expected = signRequest(parts, Buffer.from(SECRETS.appSecret, 'base64'));
  if (header('x-svc-signature') !== expected) peer.wronglySigned.push(path);
}

export interface TestClient {
  readonly client: PerennialClient;
  /** The delays that the client asked for. */
  readonly waits: number[];
  readonly notices: ResponseNotice[];
  readonly clock: { now: number };
}

/** Creates a client that records delays instead of waiting. */
export function testClient(peer: Peer, more: Partial<PerennialClientOptions> = {}): TestClient {
  const waits: number[] = [];
  const notices: ResponseNotice[] = [];
  const clock = { now: NOW };
  const client = new PerennialClient({
    baseUrl: peer.baseUrl,
    appId: 'test_demo',
    appSecret: SECRETS.appSecret,
    aesKey: SECRETS.aesKey,
    now: () => clock.now,
    async wait(ms) {
      waits.push(ms);
    },
    onResponse: (notice) => notices.push(notice),
    ...more,
  });
  return { client, waits, notices, clock };
}

export const caught = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => {
      throw new Error('it did not fail');
    },
    (error: unknown) => error,
  );
