import {
  CODES,
  diagnoseField,
  diagnoseRequest,
  type EarlierRequest,
  type Finding,
  MAX_EARLIER_REQUESTS,
  type ReceivedRequest,
} from '@perennial/wire';
import type { FastifyRequest } from 'fastify';
import type { Channel } from '../../catalog/channels/channel.js';
import type { ChannelRegistry } from '../../catalog/channels/channel-registry.js';
import type { Clock } from '../../platform/clock.js';
import { UnreadableField } from '../../subscriptions/domain/agreements/plaintext.js';
import { addressGroup, createMinuteLimit } from '../answers/minute-limit.js';
import type { Refusal } from '../answers/respond.js';
import { createRefusedRequests } from './refused-requests.js';
import type { SignedRequestHeaders } from './signed-headers.js';
import { splitUrl } from './split-url.js';

export interface RefusalExplainerDeps {
  readonly channels: ChannelRegistry;
  readonly clock: Clock;
  readonly publicUrl: () => string;
  /** If off, diagnoses cannot be read afterwards, and messages contain no link to them. */
  readonly developers?: 'on' | 'off' | undefined;
}

/** Limit per address and channel: a diagnosis takes milliseconds, and strangers must not use up a channel's limit. */
const DIAGNOSES_PER_MINUTE = 60;
/** Limit for all clients of this node. */
const DIAGNOSES_OF_NODE_PER_MINUTE = 300;
const NODE = 'node';

/** Tells a channel's developer the probable cause of a refusal. Sandbox only (docs/decisions/0031-the-kit.md). */
export function createRefusalExplainer(deps: RefusalExplainerDeps) {
  const { channels, clock, publicUrl } = deps;
  const hasPages = deps.developers !== 'off';
  // Two lists, so that repeated failures do not push out the admitted requests.
  const admitted = createRecentRequests();
  const tried = createRecentRequests();
  const refused = createRefusedRequests(clock);
  const limit = createMinuteLimit(DIAGNOSES_PER_MINUTE, clock);
  const nodeLimit = createMinuteLimit(DIAGNOSES_OF_NODE_PER_MINUTE, clock);

  /** Adds the probable cause to the refusal, if a cause is found. */
  async function explain(request: FastifyRequest, refusal: Refusal): Promise<Refusal> {
    const headers = request.signedHeaders;
    const isSkewed = refusal.result === CODES.TIMESTAMP_SKEWED;
    if (!headers || !(isSkewed || refusal.result === CODES.SIGNATURE_INVALID)) return refusal;
    const { appId } = headers;
    // A request refused for its signature has already loaded the channel. A wrong timestamp is refused before that.
    const channel = isSkewed ? await channels.get(appId) : channels.getFromMemory(appId);
    if (!channel) return isSkewed ? refusal : { ...refusal, message: describeUnknownAppId(appId) };
    // The client has hung up, so a diagnosis would be useless.
    if (request.raw.socket.destroyed) return refusal;
    const who = `${addressGroup(request.ip)} ${appId}`;
    if (limit.isReached(who) || nodeLimit.isReached(NODE)) {
      return { ...refusal, message: `${refusal.message}; too many diagnoses, retry in a minute to get one` };
    }
    limit.count(who);
    nodeLimit.count(NODE);
    const diagnosis = diagnoseRequest(toReceived(request, headers, isSkewed), secretsOf(channel, clock.now()), {
      earlier: [...admitted.list(appId), ...tried.list(appId)],
      now: clock.now(),
      publicUrl: publicUrl(),
    });
    tried.add(appId, headers);
    // If there is no finding, the signature is valid by now, because the secret was just changed.
    if (diagnosis.likely.length === 0) return refusal;
    if (hasPages) refused.add(appId, request.id, diagnosis);
    const address = `${publicUrl()}/developers/signature?request=${encodeURIComponent(request.id)}`;
    const found = [...diagnosis.likely.map(describeFinding), ...(hasPages ? [`see ${address}`] : [])].join('; ');
    const mistakes = diagnosis.likely.map(({ mistake }) => mistake);
    return { ...refusal, message: `${refusal.message}: ${found}`, mistakes };
  }

  return {
    noteAdmitted: (headers: SignedRequestHeaders) => admitted.add(headers.appId, headers),
    explain,
    refused,
  };
}

export type RefusalExplainer = ReturnType<typeof createRefusalExplainer>;

/** Turns a hint, which is a whole sentence, into a part of a sentence. Omits "unknown", because the hint may be precise. */
const describeFinding = ({ mistake, hint }: Finding): string =>
  `${hint.charAt(0).toLowerCase()}${hint.slice(1).replace(/\.$/, '')}${mistake === 'unknown' ? '' : ` (${mistake})`}`;

function describeUnknownAppId(appId: string): string {
  const unknown = 'signature does not match: this app id is unknown here';
  return appId.startsWith('test_') ? unknown : `${unknown}, and app ids of the sandbox begin with test_`;
}

/** Leaves out the body if the timestamp is skewed, because such a request is refused before its body is read. */
function toReceived(
  { raw, body, headers: { host } }: FastifyRequest,
  { timestamp, nonce, requestId, signature }: SignedRequestHeaders,
  isSkewed: boolean,
): ReceivedRequest {
  const [path, query] = splitUrl(raw.url ?? '');
  const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0);
  const { method } = raw;
  return { path, query, ...(isSkewed ? {} : { body: bytes }), timestamp, nonce, requestId, signature, method, host };
}

function secretsOf({ appSecret, callbackSecret, aesKey, formerAppSecret: former }: Channel, now: number) {
  const isFormerTaken = former !== undefined && now < former.until;
  return { appSecret, callbackSecret, aesKey, formerAppSecret: former?.secret, isFormerTaken };
}

/** Adds the likely cause to the message: prefix, base64, length or key. */
export function explainUnreadableField(error: UnreadableField, channel: Channel): UnreadableField {
  const { ciphertext, isCounted } = error;
  if (ciphertext === undefined) return error;
  const { cause, hint } = diagnoseField(ciphertext, channel);
  return new UnreadableField('DECRYPT_FAILED', `${error.message} (${cause}): ${hint}`, isCounted);
}

/** Half of the number of requests that a diagnosis can try, because a diagnosis tries the requests of two lists. */
const MAX_RECENT = MAX_EARLIER_REQUESTS / 2;

/** Keeps the headers of each channel's last requests, because a client may have signed another request's headers. */
function createRecentRequests() {
  /** A ring buffer for each channel, in which the next entry replaces the oldest. */
  const rings = new Map<string, { readonly kept: EarlierRequest[]; next: number }>();

  return {
    add(appId: string, { timestamp, nonce, requestId }: EarlierRequest): void {
      const ring = rings.get(appId) ?? { kept: [], next: 0 };
      rings.set(appId, ring);
      ring.kept[ring.next] = { timestamp, nonce, requestId };
      ring.next = (ring.next + 1) % MAX_RECENT;
    },
    list: (appId: string): readonly EarlierRequest[] => rings.get(appId)?.kept ?? [],
  };
}
