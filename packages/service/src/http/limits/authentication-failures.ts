import { HEADER_KEYS } from '@perennial/wire';
import type { FastifyRequest } from 'fastify';
import type { AccessTokens } from '../../catalog/channels/access-token.js';
import type { ChannelRegistry } from '../../catalog/channels/channel-registry.js';
import { addressGroup, type MinuteLimit } from '../answers/minute-limit.js';

export interface AuthenticationFailuresDeps {
  readonly limit: MinuteLimit;
  readonly channels: ChannelRegistry;
  readonly tokens: AccessTokens;
}

/** Cannot equal an app id, because app ids have no spaces. */
const UNKNOWN_CHANNEL = 'an unknown channel';
const BEARER = /^Bearer ([\x21-\x7e]{1,1024})$/i;

/**
 * Refuses clients that keep failing authentication, before it computes the next signature. Counts failures by address
 * and app id, so that channels behind the same proxy do not affect each other. All app ids that this node does not know
 * count as one app id, because anybody can invent app ids. Requests with a live access token of the channel are counted
 * separately: an attacker has no token and so cannot block the channel.
 */
export function createAuthenticationFailures({ limit, channels, tokens }: AuthenticationFailuresDeps) {
  function knownChannel({ headers }: Pick<FastifyRequest, 'headers'>): string {
    const appId = headers[HEADER_KEYS.appId];
    return typeof appId === 'string' && channels.getFromMemory(appId) ? appId : UNKNOWN_CHANNEL;
  }

  function limitNames(request: FastifyRequest): { withToken: string; without: string } {
    const without = `${addressGroup(request.ip)} ${knownChannel(request)}`;
    return { withToken: `${without} with a token`, without };
  }

  async function hasLiveToken({ headers }: FastifyRequest): Promise<boolean> {
    const [, token] = BEARER.exec(headers.authorization ?? '') ?? [];
    // Checks the token without the database, and reads only the channel that the token names. So an attacker cannot
    // cause database statements by sending many app ids.
    const channelId = token === undefined ? undefined : tokens.channelIdOf(token);
    if (token === undefined || channelId === undefined) return false;
    const appId = await channels.getAppId(channelId);
    if (appId === undefined || appId !== headers[HEADER_KEYS.appId]) return false;
    return tokens.isLive(token, await channels.get(appId));
  }

  return {
    /** Returns the app id if this node knows it, else one common name, because anybody can invent app ids. */
    knownChannel,
    /**
     * Returns the app id if the request has a live access token of this channel, and this node has the channel in
     * memory.
     */
    tokenHolder({ headers }: FastifyRequest): string | undefined {
      const appId = headers[HEADER_KEYS.appId];
      const channel = typeof appId === 'string' ? channels.getFromMemory(appId) : undefined;
      const [, token = ''] = BEARER.exec(headers.authorization ?? '') ?? [];
      return tokens.isLive(token, channel) ? channel?.appId : undefined;
    },
    /** Throws RateLimited after too many failures. Returns a promise only if it must check the token. */
    check(request: FastifyRequest): Promise<void> | undefined {
      // Returns early, because nearly always no failure is counted.
      if (!limit.isUsed()) return undefined;
      const { withToken, without } = limitNames(request);
      if (!limit.isReached(without) && !limit.isReached(withToken)) return undefined;
      return hasLiveToken(request).then((isHolder) => limit.check(isHolder ? withToken : without));
    },
    async countFailure(request: FastifyRequest): Promise<void> {
      const { withToken, without } = limitNames(request);
      const isHolder = await hasLiveToken(request).catch(() => false);
      limit.count(isHolder ? withToken : without);
    },
  };
}

export type AuthenticationFailures = ReturnType<typeof createAuthenticationFailures>;
