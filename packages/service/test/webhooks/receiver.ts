import { randomBytes } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { HEADER_KEYS, HEADERS, sha256Hex, signWebhook, verifySignature } from '@perennial/wire';
import type { SignedPush } from '../../src/delivery/receivers/message.js';

/** How a receiver answers a push. */
export type ReceiverAnswer =
  | 'accept'
  | 'refuse'
  | 'hang'
  /** Sends one byte at a time, endlessly. */
  | 'trickle'
  /** Sends as fast as the client reads, endlessly. */
  | 'huge'
  | 'close'
  | 'reset'
  | 'redirect'
  | 'not-json'
  /** Accepts, but with the code as a number instead of a text. */
  | 'number'
  | { readonly status: number; readonly body?: string; readonly headers?: Readonly<Record<string, string>> }
  /** Sends exactly these bytes in these packets. Then closes the connection or leaves it open. */
  | { readonly raw: readonly (string | Buffer)[]; readonly close?: boolean };

export interface ReceivedPush {
  readonly appId: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly retryNo: number;
  readonly timestamp: number;
  readonly nonce: string;
  readonly path: string;
  readonly host: string | undefined;
  readonly traceparent: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into events freely
  readonly data: any;
  readonly raw: Buffer;
  /** The number of the connection on which the push came, counted from 1. */
  readonly connection: number;
}

export interface ReceiverOptions {
  /** callbackSecret (base64) by appId. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** One answer for all pushes, or a function of the push. */
  readonly answer?: ReceiverAnswer | ((push: ReceivedPush) => ReceiverAnswer);
  /** Key and certificate in PEM. With them, the receiver uses HTTPS. */
  readonly tls?: { readonly key: string; readonly cert: string };
  readonly path?: string;
}

export type TestReceiver = Awaited<ReturnType<typeof startReceiver>>;

export const ACCEPTED_BODY = '{"code":"0","message":"OK"}';

/** Returns a push for tests without an engine. It is signed like a push of the engine. */
export function signedPush(
  appId: string,
  callbackSecret: string,
  path = '/events',
  eventId = '4711',
  data = {},
): SignedPush {
  const body = `{"eventId":"${eventId}","eventType":"order.status.changed","retryNo":0,"data":${JSON.stringify(data)}}`;
  const timestamp = '1767225600000';
  const nonce = randomBytes(16).toString('hex');
  const parts = { path, bodySha256: sha256Hex(Buffer.from(body)), timestamp, nonce, eventId };
  const headers: Record<string, string> = {
    [HEADERS.contentType]: 'application/json',
    [HEADERS.appId]: appId,
    [HEADERS.timestamp]: timestamp,
    [HEADERS.nonce]: nonce,
    [HEADERS.eventId]: eventId,
    [HEADERS.signature]: signWebhook(parts, Buffer.from(callbackSecret, 'base64')),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return { headers: lines.join(''), body };
}

/** Starts a receiver that checks each signature over the raw bytes, records the push, and answers as configured. */
export async function startReceiver(options: ReceiverOptions = {}) {
  const secrets = new Map(Object.entries(options.secrets ?? {}));
  const pushes: ReceivedPush[] = [];
  const forged: string[] = [];
  const open = new Map<Socket, number>();
  const waiting = new Set<() => void>();
  let made = 0;
  let answer = options.answer ?? 'accept';
  const happened = () => {
    for (const look of [...waiting]) look();
  };

  const handle: http.RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('error', () => undefined)
      .on('end', () => {
        const raw = Buffer.concat(chunks);
        const wrong = notGenuine(request, raw, secrets);
        if (wrong !== undefined) {
          forged.push(wrong);
          response.writeHead(401).end();
        } else {
          const push = received(request, raw, open.get(request.socket) ?? 0);
          pushes.push(push);
          reply(typeof answer === 'function' ? answer(push) : answer, response);
        }
        happened();
      });
  };
  const server = options.tls ? https.createServer(options.tls, handle) : http.createServer(handle);
  server.on(options.tls ? 'secureConnection' : 'connection', (socket: Socket) => {
    made += 1;
    open.set(socket, made);
    socket.on('error', () => undefined);
    socket.once('close', () => {
      open.delete(socket);
      happened();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  return {
    url: `${options.tls ? 'https' : 'http'}://localhost:${port}${options.path ?? '/events'}`,
    port,
    /** The pushes, in the order in which they were completely received. All their signatures were right. */
    pushes,
    /** For each push that was not genuine, the reason. Most tests expect that there are none. */
    forged,
    /** The HTTP server, for tests that close its connections or listen to its events. */
    server,
    /** The number of connections made so far, and the number of open ones. */
    get connections() {
      return { made, open: open.size };
    },
    know: (appId: string, callbackSecret: string) => void secrets.set(appId, callbackSecret),
    answer(how: ReceiverOptions['answer']) {
      answer = how ?? 'accept';
    },
    /**
     * Resolves after the given number of pushes, or when the given condition is true. The condition is checked at once,
     * then after every request and every closed connection.
     */
    until(condition: number | (() => boolean)) {
      const holds = typeof condition === 'number' ? () => pushes.length >= condition : condition;
      return new Promise<void>((resolve) => {
        const look = () => {
          if (!holds()) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      });
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of open.keys()) socket.destroy();
      }),
  };
}

function notGenuine(
  { method, url = '', headers }: http.IncomingMessage,
  raw: Buffer,
  secrets: ReadonlyMap<string, string>,
): string | undefined {
  if (method !== 'POST') return `${method} instead of POST`;
  if (headers['content-type'] !== 'application/json') return `a body of ${headers['content-type']}`;
  const [appId, timestamp, nonce, eventId, signature] = (
    ['appId', 'timestamp', 'nonce', 'eventId', 'signature'] as const
  ).map((name) => String(headers[HEADER_KEYS[name]])) as [string, string, string, string, string];
  const secret = secrets.get(appId);
  if (secret === undefined) return `an unknown appId: ${appId}`;
  if (!/^\d{13}$/.test(timestamp)) return `a timestamp that is none: ${timestamp}`;
  if (!/^[0-9a-f]{32}$/.test(nonce)) return `a nonce that is none: ${nonce}`;
  const parts = { path: url, bodySha256: sha256Hex(raw), timestamp, nonce, eventId };
  if (!verifySignature(signature, signWebhook(parts, Buffer.from(secret, 'base64'))))
    return `a wrong signature: ${raw}`;
  if (JSON.parse(raw.toString()).eventId !== eventId) return `another event than its header says: ${raw}`;
  return undefined;
}

function received({ url = '', headers }: http.IncomingMessage, raw: Buffer, connection: number): ReceivedPush {
  const { eventId, eventType, retryNo, data } = JSON.parse(raw.toString());
  return {
    appId: String(headers[HEADER_KEYS.appId]),
    eventId,
    eventType,
    retryNo,
    timestamp: Number(headers[HEADER_KEYS.timestamp]),
    nonce: String(headers[HEADER_KEYS.nonce]),
    path: url,
    host: headers.host,
    traceparent: headers['traceparent']?.toString(),
    data,
    raw,
    connection,
  };
}

const JSON_TYPE = { 'Content-Type': 'application/json' };

const PLAIN: Readonly<Record<string, ReceiverAnswer>> = {
  accept: { status: 200, body: ACCEPTED_BODY },
  refuse: { status: 200, body: '{"code":"500001","message":"not now"}' },
  number: { status: 200, body: '{"code":0}' },
  'not-json': { status: 200, body: '<h1>OK</h1>' },
  redirect: { status: 307, headers: { Location: 'http://localhost:1/elsewhere' } },
};

function reply(told: ReceiverAnswer, response: http.ServerResponse): void {
  const how = typeof told === 'string' ? (PLAIN[told] ?? told) : told;
  const { socket } = response;
  if (!socket) return;
  if (how === 'close') socket.end();
  else if (how === 'reset') socket.resetAndDestroy();
  else if (how === 'huge') {
    response.writeHead(200, JSON_TYPE);
    pour(socket, () => response.write(Buffer.alloc(64 * 1024, ' ')), 0);
  } else if (how === 'trickle') {
    response.writeHead(200, { ...JSON_TYPE, 'Content-Length': '60000' });
    pour(socket, () => response.write(' '), 20);
  } else if (typeof how === 'object' && 'raw' in how) {
    void sendRaw(socket, how.raw, how.close ?? false);
  } else if (typeof how === 'object') {
    const { status, headers = JSON_TYPE, body = ACCEPTED_BODY } = how;
    response.writeHead(status, headers).end(body);
  }
}

/** Writes repeatedly until the connection is closed. */
function pour(socket: Socket, write: () => boolean, everyMs: number): void {
  const more = () => {
    if (socket.destroyed) return;
    if (write()) setTimeout(more, everyMs);
    else socket.once('drain', more);
  };
  more();
}

async function sendRaw(socket: Socket, packets: readonly (string | Buffer)[], close: boolean): Promise<void> {
  for (const packet of packets) {
    if (socket.destroyed) return;
    await new Promise((resolve) => socket.write(packet, resolve));
  }
  if (close) socket.end();
}
