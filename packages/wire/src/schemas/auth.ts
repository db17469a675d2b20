import { grantTypes } from '../enums.js';
import { Enum, Text, Time } from './common.js';
import { type Static, Type } from './type.js';

export const AuthTokenRequest = Type.Object({
  grantType: Enum(grantTypes),
  appId: Text,
});
export type AuthTokenRequest = Static<typeof AuthTokenRequest>;

export const Token = Type.Object({
  accessToken: Type.String({ minLength: 1 }),
  /** The token's lifetime in seconds. It is a string, because the interface defines it so. */
  expiresIn: Type.String({ pattern: '^[0-9]+$' }),
  expiresAt: Time,
});
export type Token = Static<typeof Token>;
