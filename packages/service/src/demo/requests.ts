import { randomUUID } from 'node:crypto';
import { CODES, type CodeName, PATH_PREFIX } from '@perennial/wire';
import { type LoggedRequest, storeRequests } from '../catalog/channels/request-log-sql.js';
import type { PlacedOrder } from './orders.js';
import type { Provisioned, StagedChannel } from './provision.js';
import { DAY_MS, HOUR_MS, type Stage } from './stage.js';

/** As long as the calls of channels are kept. */
const DAYS = 7;
/** Calls that follow an order, on average. */
const CALLS_PER_ORDER = 6;

const ENDPOINTS = [
  'orders/query',
  'orders/query',
  'orders/query',
  'orders/list',
  'payments/query',
  'auth/token',
  'events/list',
];

interface Refusal {
  readonly endpoint: string;
  readonly name: CodeName;
  /** What the caller was told, where it is more than the code says. */
  readonly reason?: string;
}

const REFUSALS: readonly Refusal[] = [
  { endpoint: 'orders/create', name: 'PARAM_INVALID', reason: 'mobileEncrypted is required' },
  { endpoint: 'orders/create', name: 'SUBSCRIPTION_ALREADY_EXISTS' },
  { endpoint: 'orders/create', name: 'AGREEMENT_NOT_BOUND' },
  { endpoint: 'orders/unsubscribe', name: 'SUBSCRIPTION_ALREADY_COMPLETED' },
  { endpoint: 'orders/query', name: 'SUBSCRIPTION_NOT_FOUND' },
  { endpoint: 'agreements/bind-confirm', name: 'SMS_CODE_EXPIRED' },
  { endpoint: 'orders/query', name: 'TOKEN_EXPIRED' },
  { endpoint: 'orders/create', name: 'RATE_LIMITED' },
  { endpoint: 'orders/create', name: 'TIMESTAMP_SKEWED' },
];
const BAD_SIGNATURE: Refusal = { endpoint: 'orders/query', name: 'SIGNATURE_INVALID' };

/** What channels asked in the last days, beside what the story needed: nobody has asked over the network. */
export async function logRequests(
  stage: Stage,
  { channels }: Provisioned,
  orders: readonly PlacedOrder[],
): Promise<void> {
  const { story, end } = stage;
  const random = stage.randomFor('calls');
  const since = end - DAYS * DAY_MS;
  const request = (
    { channel, appId }: StagedChannel,
    at: number,
    endpoint: string,
    name: CodeName = 'SUCCESS',
    reason?: string,
  ): LoggedRequest => {
    const { code, http, message } = CODES[name];
    return {
      at,
      appId,
      endpoint: `${PATH_PREFIX}${endpoint}`,
      code,
      httpStatus: http,
      durationMs: name === 'SUCCESS' ? random.between(3, 60) : random.between(1, 12),
      requestId: randomUUID(),
      reason: name === 'SUCCESS' ? null : (reason ?? message),
      address: `203.0.113.${10 + (channel.channelId % 40)}`,
    };
  };
  const created = orders
    .filter(({ createdAt }) => createdAt >= since)
    .map(({ staged, createdAt }) => request(staged, createdAt, 'orders/create'));
  const others = Array.from({ length: orders.length * CALLS_PER_ORDER }, () => {
    const staged = random.pick(channels);
    const at = since + random.between(0, end - since - 1);
    // Its developers have rolled the secret and missed a server.
    const isWronglySigned = staged.receiver === 'refuses-lately' && end - at < 30 * HOUR_MS && random.chance(0.4);
    const refusal = isWronglySigned ? BAD_SIGNATURE : random.chance(0.04) ? random.pick(REFUSALS) : undefined;
    return refusal
      ? request(staged, at, refusal.endpoint, refusal.name, refusal.reason)
      : request(staged, at, random.pick(ENDPOINTS));
  });
  await storeRequests(story.database, [...created, ...others]);
}
