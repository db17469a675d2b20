import { randomBytes, randomUUID } from 'node:crypto';
import { sha256Hex, signRequest } from '@perennial/wire';
import { BRIDGE_HEADERS, CONTENT_TYPE, type Fields, type Operation } from '@perennial/wire/bridge';
import type { Message } from './transport.js';

/** What is wrong with a request on purpose. */
export interface Twist {
  readonly key?: Uint8Array;
  /** Of the timestamp, in milliseconds. */
  readonly offMs?: number;
  /** Headers that are signed as they are here; undefined is signed as if it were empty, and not sent. */
  readonly signedHeaders?: Readonly<Record<string, string | undefined>>;
  /** Headers that are changed after signing; undefined is not sent. */
  readonly sentHeaders?: Readonly<Record<string, string | undefined>>;
  readonly signature?: (right: string) => string | undefined;
  /** The path that is signed instead. */
  readonly signedPath?: string;
  /** The body that is sent instead of the signed one. */
  readonly sentBody?: Buffer;
}

export interface Request {
  readonly operation: Operation;
  readonly body: Fields | Buffer;
  /** Of a debit or a refund. */
  readonly idempotencyKey?: string;
  readonly twist?: Twist;
}

export interface Signing {
  readonly basePath: string;
  readonly key: Uint8Array;
  /** Named by every body that does not name one itself. */
  readonly currency: string;
  readonly now: number;
}

/** A request as it is sent: signed as the page says, but for what is twisted. */
export function compose({ operation, body, idempotencyKey, twist = {} }: Request, signing: Signing): Message {
  const path = `${signing.basePath}/${operation}`;
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify({ currency: signing.currency, ...body }));
  const signed: Record<string, string | undefined> = {
    [BRIDGE_HEADERS.timestamp]: String(signing.now + (twist.offMs ?? 0)),
    [BRIDGE_HEADERS.nonce]: randomBytes(16).toString('hex'),
    [BRIDGE_HEADERS.requestId]: randomUUID(),
    ...twist.signedHeaders,
  };
  const parts = {
    ...{ path: twist.signedPath ?? path, query: '', bodySha256: sha256Hex(bytes) },
    timestamp: signed[BRIDGE_HEADERS.timestamp] ?? '',
    nonce: signed[BRIDGE_HEADERS.nonce] ?? '',
    requestId: signed[BRIDGE_HEADERS.requestId] ?? '',
  };
  const right = signRequest(parts, twist.key ?? signing.key);
  const headers = {
    'content-type': CONTENT_TYPE,
    ...(idempotencyKey === undefined ? {} : { [BRIDGE_HEADERS.idempotencyKey]: idempotencyKey }),
    ...signed,
    [BRIDGE_HEADERS.signature]: twist.signature === undefined ? right : twist.signature(right),
    ...twist.sentHeaders,
  };
  return { path, headers: withoutUndefined(headers), body: twist.sentBody ?? bytes };
}

function withoutUndefined(headers: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter((one): one is [string, string] => one[1] !== undefined));
}
