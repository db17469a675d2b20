import { NONCE_WINDOW_MS, Rejection, signRequest, verifySignature } from '@perennial/wire';
import type { AccessTokens } from '../../catalog/channels/access-token.js';
import { admitRequests } from '../../catalog/channels/admission-sql.js';
import type { Channel } from '../../catalog/channels/channel.js';
import type { ChannelRegistry } from '../../catalog/channels/channel-registry.js';
import type { Clock } from '../../platform/clock.js';
import { type Database, sqlState } from '../../platform/db/database.js';
import { createBatcher } from '../../platform/db/sharing/batcher.js';
import type { Caller } from '../../platform/db/sharing/caller.js';
import type { IdempotencyRow } from '../../platform/idempotency/idempotency-sql.js';
import {
  type AdmissionWithOrder,
  type AdmittedWithOrder,
  admitAndFindOrders,
  type OrderText,
} from '../../subscriptions/store/orders/order-texts-sql.js';
import type { OrderReference } from '../../subscriptions/store/orders/orders-sql.js';
import { RateLimited } from '../answers/minute-limit.js';
import type { SignedRequestHeaders } from './signed-headers.js';

export interface AdmissionRequest {
  readonly headers: SignedRequestHeaders;
  readonly path: string;
  readonly query: string;
  readonly bodySha256: string;
  readonly address: string;
  readonly idempotencyKey: string | undefined;
  /** Returns the order that the admission statement also reads. Called after the signature was verified. */
  readonly findReference?: (() => Promise<OrderReference | undefined> | OrderReference | undefined) | undefined;
}

export interface Admitted {
  readonly channel: Channel;
  readonly idempotency: IdempotencyRow | undefined;
  /** The requested order, if it belongs to the channel. */
  readonly found: OrderText | undefined;
}

export interface AdmissionDeps {
  readonly database: Database;
  readonly channels: ChannelRegistry;
  readonly tokens: AccessTokens;
  readonly clock: Clock;
  readonly observeBatch: (size: number) => void;
}

/** Used instead of the secret of an unknown app id, so that known and unknown app ids take about the same time. */
const UNKNOWN_CHANNEL_SECRET = new Uint8Array(32);
const NONCE_SLOTS = 4;
const nonceSlot = (timestamp: string) => Math.floor(Number(timestamp) / NONCE_WINDOW_MS) % NONCE_SLOTS;

/**
 * Checks signature, nonce, address, suspension, rate and token, in this order. Several requests share one statement.
 */
export function createAdmission({ database, channels, tokens, clock, observeBatch }: AdmissionDeps) {
  const ask = createBatcher<AdmissionWithOrder, AdmittedWithOrder>({
    maxBatch: 64,
    slots: 2,
    channelOf: (asked) => asked.channelId,
    run: (asked) => {
      observeBatch(asked.length);
      const wantsOrders = asked.some(({ reference }) => reference !== undefined);
      return retryDeadlocks(() =>
        wantsOrders ? admitAndFindOrders(database, asked, clock.now()) : admitRequests(database, asked),
      );
    },
  });

  return async function admitRequest(request: AdmissionRequest, caller: Caller): Promise<Admitted> {
    let channel = await authenticate(request);
    const reference = await request.findReference?.();
    for (;;) {
      const refusal = findChannelRefusal(channel, request.address);
      const asked = {
        channelId: channel.channelId,
        version: channel.version,
        nonce: request.headers.nonce.toLowerCase(),
        slot: nonceSlot(request.headers.timestamp),
        counted: refusal === undefined,
        idempotencyKey: request.idempotencyKey,
        reference,
      };
      const answer = await ask(asked, caller);
      if (!answer.current) {
        // The channel has changed since this node read it. The statement stored nothing for this request. The request
        // is checked again with the new row.
        channel = await authenticate(request, await channels.reload(request.headers.appId));
        continue;
      }
      if (answer.reused) throw new Rejection('NONCE_REUSED');
      if (refusal) throw refusal;
      // Retry-After of one second is enough even at the lowest rate of one request per second.
      if (!answer.granted) throw new RateLimited(1);
      if (request.headers.token !== undefined) tokens.check(request.headers.token, channel);
      return { channel, idempotency: answer.idempotency, found: answer.found };
    }
  };

  async function authenticate(request: AdmissionRequest, reloaded?: Channel): Promise<Channel> {
    const channel = reloaded ?? (await channels.get(request.headers.appId));
    if (isSignedBy(request, channel) && channel) return channel;
    // Reloads the channel. If its credentials were just reset, the signature is wrong only for this node's old copy.
    const current = channel && !reloaded ? await channels.reload(channel.appId) : undefined;
    if (current && current.version !== channel?.version && isSignedBy(request, current)) return current;
    throw new Rejection('SIGNATURE_INVALID');
  }

  /** Accepts a signature with the app secret, or with the former app secret during its overlap. */
  function isSignedBy(request: AdmissionRequest, channel: Channel | undefined): boolean {
    if (isSigned(request, channel?.appSecret ?? UNKNOWN_CHANNEL_SECRET)) return true;
    const former = channel?.formerAppSecret;
    return former !== undefined && clock.now() < former.until && isSigned(request, former.secret);
  }
}

function isSigned({ headers, path, query, bodySha256 }: AdmissionRequest, appSecret: Uint8Array): boolean {
  const { timestamp, nonce, requestId, signature } = headers;
  return verifySignature(signature, signRequest({ path, query, bodySha256, timestamp, nonce, requestId }, appSecret));
}

function findChannelRefusal(channel: Channel, address: string): Rejection | undefined {
  if (!channel.allowsAddress(address)) return new Rejection('IP_NOT_ALLOWED');
  if (channel.suspended) return new Rejection('CHANNEL_DISABLED');
  return undefined;
}

/** Retries after a deadlock: two batches may lock channels in different order. A failed batch has changed nothing. */
async function retryDeadlocks<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (sqlState(error) !== '40P01' || attempt === 5) throw error;
    }
  }
}
