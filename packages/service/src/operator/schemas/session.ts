import { Type } from '@perennial/wire';
import { ROLES } from '../people/roles.js';
import { oneOf, text, textOrNull, time } from './parts.js';

export const role = oneOf(...ROLES);

export const signInRequest = Type.Object({
  name: text(64),
  password: Type.String({ minLength: 1, maxLength: 1024 }),
  /** Six digits, if the operator has set up a second factor. */
  code: Type.Optional(Type.String({ maxLength: 16 })),
});

export const session = Type.Object({
  name: Type.String(),
  role,
  csrfToken: Type.String(),
  environment: oneOf('sandbox', 'production'),
  /** Currency of every amount, such as CNY. */
  currency: Type.String(),
  version: Type.String(),
  hasTotp: Type.Boolean(),
  hasPassword: Type.Boolean(),
  /** Until then, actions that move money or reveal a secret ask for no confirmation. */
  provenUntil: time,
  /** The absolute end of the session. */
  expiresAt: time,
  /** Refunds above this amount need a second operator. 0: none do. */
  refundApprovalCent: Type.Integer(),
});

/** For visitors who are not signed in. */
export const signInWays = Type.Object({
  environment: oneOf('sandbox', 'production'),
  /** True if single sign-on is configured. */
  oidc: Type.Boolean(),
  oidcName: textOrNull,
});

export const proofRequest = Type.Object({
  password: Type.Optional(Type.String({ minLength: 1, maxLength: 1024 })),
  code: Type.Optional(Type.String({ maxLength: 16 })),
});

export const ownSession = Type.Object({
  sessionId: Type.String(),
  isThis: Type.Boolean(),
  address: Type.String(),
  userAgent: Type.String(),
  createdAt: time,
  lastSeenAt: time,
});
export const ownSessions = Type.Object({ sessions: Type.Array(ownSession) });

/** Sets a password with the token of a one-time link, for a new operator or after a password reset. */
export const setupRequest = Type.Object({
  token: text(200),
  password: Type.String({ minLength: 12, maxLength: 1024 }),
});
export const setupAnswer = Type.Object({ name: Type.String() });

export const passwordRequest = Type.Object({
  current: Type.String({ minLength: 1, maxLength: 1024 }),
  password: Type.String({ minLength: 12, maxLength: 1024 }),
});

/** Shown once. Takes effect once a code of it was entered. */
export const totpBegun = Type.Object({ secret: Type.String(), uri: Type.String() });
export const totpRequest = Type.Object({ code: text(16) });

export const nothing = Type.Object({});
