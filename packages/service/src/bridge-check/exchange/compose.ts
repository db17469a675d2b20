import { randomBytes, randomUUID } from 'node:crypto';
import { sha256Hex, signRequest } from '@perennial/wire';
import { BRIDGE_HEADERS, CONTENT_TYPE, type Fields, type Operation } from '@perennial/wire/bridge';
import type { Message } from './transport.js';

/** Deliberate faults of a request. */
export interface Twist {
  readonly key?: Uint8Array;
  /** Offset of the timestamp, in milliseconds. */
  readonly offMs?: number;
  /** Headers signed with these values. An undefined header is signed as empty, and not sent. */
  readonly signedHeaders?: Readonly<Record<string, string | undefined>>;
  /** Headers changed after signing. An undefined header is not sent. */
  readonly sentHeaders?: Readonly<Record<string, string | undefined>>;
  readonly signature?: (right: string) => string | undefined;
  readonly signedPath?: string;
  readonly sentBody?: Buffer;
}

export interface Request {
  readonly operation: Operation;
  readonly body: Fields | Buffer;
  /** Set for debits and refunds. */
  readonly idempotencyKey?: string;
  readonly twist?: Twist;
}

export interface Signing {
  readonly basePath: string;
  readonly key: Uint8Array;
  /** Added to every body that is an object without a currency. */
  readonly currency: string;
  readonly now: number;
}

/** Composes a request, signed as docs/bridge.md requires except for the faults in `twist`. */
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
