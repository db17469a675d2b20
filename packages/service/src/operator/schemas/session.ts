import { Type } from '@perennial/wire';
import { ROLES } from '../people/roles.js';
import { oneOf, text, textOrNull, time } from './parts.js';

export const role = oneOf(...ROLES);

export const signInRequest = Type.Object({
  name: text(64),
  password: Type.String({ minLength: 1, maxLength: 1024 }),
  /** Six digits, of a person who has set this up. */
  code: Type.Optional(Type.String({ maxLength: 16 })),
});

export const session = Type.Object({
  name: Type.String(),
  role,
  csrfToken: Type.String(),
  environment: oneOf('sandbox', 'production'),
  /** Of every amount, such as CNY. */
  currency: Type.String(),
  version: Type.String(),
  hasTotp: Type.Boolean(),
  hasPassword: Type.Boolean(),
  /** Until when what moves money or shows a secret asks for no further proof. */
  provenUntil: time,
  /** When the session ends, however it is used. */
  expiresAt: time,
  /** Refunds above this need a second person; 0: none does. */
  refundApprovalCent: Type.Integer(),
});

/** For those who are not signed in. */
export const signInWays = Type.Object({
  environment: oneOf('sandbox', 'production'),
  /** Whether there is single sign-on. */
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

/** The one-time link that a new person, or one whose password was reset, is given. */
export const setupRequest = Type.Object({
  token: text(200),
  password: Type.String({ minLength: 12, maxLength: 1024 }),
});
export const setupAnswer = Type.Object({ name: Type.String() });

export const passwordRequest = Type.Object({
  current: Type.String({ minLength: 1, maxLength: 1024 }),
  password: Type.String({ minLength: 12, maxLength: 1024 }),
});

/** Shown once; it counts when a code made from it was given. */
export const totpBegun = Type.Object({ secret: Type.String(), uri: Type.String() });
export const totpRequest = Type.Object({ code: text(16) });

export const nothing = Type.Object({});
