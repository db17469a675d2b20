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

/** Never an app id, which has no spaces. */
const UNKNOWN_CHANNEL = 'an unknown channel';
const BEARER = /^Bearer ([\x21-\x7e]{1,1024})$/i;

/**
 * A client that keeps failing authentication is refused before the next signature is computed. Failures are counted by
 * address and app id, so that no channel pays for others behind the same proxy. All app ids that this node does not know
 * count as one, since anybody can invent any number of them. Requests with a live access token of the channel are counted
 * separately: an attacker has no token, and whatever it sends under a channel's app id, the channel's requests go on.
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
    // Whether the token is genuine is known without the database, and its channel after one statement. So an attacker cannot
    // cause statements by sending many app ids.
    const channelId = token === undefined ? undefined : tokens.channelIdOf(token);
    if (token === undefined || channelId === undefined) return false;
    const appId = await channels.getAppId(channelId);
    if (appId === undefined || appId !== headers[HEADER_KEYS.appId]) return false;
    return tokens.isLive(token, await channels.get(appId));
  }

  return {
    /** The app id of a request if this node knows it; one common name for all others, since anybody can invent any number. */
    knownChannel,
    /** Throws RateLimited when there were too many failures. A promise only if the token has to be checked. */
    check(request: FastifyRequest): Promise<void> | undefined {
      // Nearly always no failure was counted.
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
