import { type AuthTokenRequest, formatTime, Rejection, TOKEN_LIFETIME_SECONDS, type Token } from '@perennial/wire';
import type { Action } from '../catalog/action.js';
import type { AccessTokens } from '../catalog/channels/access-token.js';

export function createAuthTokenAction(tokens: AccessTokens): Action<AuthTokenRequest, Token> {
  return async ({ channel, answer }, { appId }) => {
    if (appId !== channel.appId) throw new Rejection('PARAM_INVALID', 'appId must equal the header X-SVC-App-Id');
    const { accessToken, expiresAt } = tokens.issue(channel);
    return answer({ accessToken, expiresIn: String(TOKEN_LIFETIME_SECONDS), expiresAt: formatTime(expiresAt) });
  };
}
