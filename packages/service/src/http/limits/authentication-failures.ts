import { HEADER_KEYS } from '@perennial/wire';
import type { FastifyRequest } from 'fastify';
import type { AccessTokens } from '../../catalog/channels/access-token.js';
import type { ChannelRegistry } from '../../catalog/channels/channel-registry.js';
import { addressGroup, type MinuteLimit } from '../answers/minute-limit.js';

/**
 * Who keeps failing authentication is refused before the next signature is computed. Who that is: an address and the app
 * id that it names, so that nobody pays for others behind the same proxy. An app id that this node has not met counts as
 * none, since anybody can invent any number of them. Requests with a live access token of the channel count apart: a
 * stranger has none, and whatever a stranger sends under a channel's name, the channel's own requests go on.
 */
export interface AuthenticationFailures {
  /** Throws RateLimited; a promise only where it takes a while to know. */
  check(request: FastifyRequest): Promise<void> | undefined;
  countFailure(request: FastifyRequest): Promise<void>;
  /** The app id that a request names, if this node knows it: all others have one name, since anybody can invent any number. */
  knownChannel(request: Pick<FastifyRequest, 'headers'>): string;
}

export interface AuthenticationFailuresDeps {
  readonly limit: MinuteLimit;
  readonly channels: ChannelRegistry;
  readonly tokens: AccessTokens;
}

/** No app id: they hold no space. */
const UNKNOWN_CHANNEL = 'an unknown channel';
const BEARER = /^Bearer ([\x21-\x7e]{1,1024})$/i;

export function createAuthenticationFailures({
  limit,
  channels,
  tokens,
}: AuthenticationFailuresDeps): AuthenticationFailures {
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
    // Whether it is genuine is known without the database, and whose it is after one look at that. So nobody has anything
    // looked up here by the names that they send, which may be as many as they like.
    const channelId = token === undefined ? undefined : tokens.channelIdOf(token);
    if (token === undefined || channelId === undefined) return false;
    const appId = await channels.getAppId(channelId);
    if (appId === undefined || appId !== headers[HEADER_KEYS.appId]) return false;
    return tokens.isLive(token, await channels.get(appId));
  }

  return {
    knownChannel,
    check(request) {
      // Nearly always.
      if (!limit.isUsed) return undefined;
      const { withToken, without } = limitNames(request);
      if (!limit.isReached(without) && !limit.isReached(withToken)) return undefined;
      return hasLiveToken(request).then((isHolder) => limit.check(isHolder ? withToken : without));
    },
    async countFailure(request) {
      const { withToken, without } = limitNames(request);
      const isHolder = await hasLiveToken(request).catch(() => false);
      limit.count(isHolder ? withToken : without);
    },
  };
}
