import { Type } from '@perennial/wire';
import { ROLES } from '../people/roles.js';
import { oneOf, text, textOrNull, time } from './parts.js';

export const role = oneOf(...ROLES);

export const signInRequest = Type.Object({
  name: text(64),
  password: Type.String({ minLength: 1, maxLength: 1024 }),
  /** A code of the authenticator app or a recovery code, if the operator has set up a second factor. */
  code: Type.Optional(Type.String({ maxLength: 32 })),
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
  /** The number of unused recovery codes. */
  recoveryCodesLeft: Type.Integer(),
  hasPassword: Type.Boolean(),
  /** True if the operator must set up a second factor before they can do anything else. */
  needsTotp: Type.Boolean(),
  /** Until this time, actions that move money or reveal a secret do not ask the operator to confirm their identity. */
  provenUntil: time,
  /** The end of the session, even if the operator is active. */
  expiresAt: time,
  /**
   * If the refunds of one period exceed this amount together, a second operator must approve. 0: there is no such
   * limit.
   */
  refundApprovalCent: Type.Integer(),
  /** The cell that this console belongs to. */
  cell: Type.Integer(),
  /** All cells with their consoles. Empty if there is only one. */
  cells: Type.Array(Type.Object({ cell: Type.Integer(), consoleUrl: textOrNull })),
});

/** Facts for visitors who are not signed in. */
export const signInWays = Type.Object({
  environment: oneOf('sandbox', 'production'),
  /** True if single sign-on is configured. */
  oidc: Type.Boolean(),
  oidcName: textOrNull,
});

export const proofRequest = Type.Object({
  password: Type.Optional(Type.String({ minLength: 1, maxLength: 1024 })),
  code: Type.Optional(Type.String({ maxLength: 32 })),
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

/** Sets a password with the token of a setup link, for a new operator or after a reset. */
export const setupRequest = Type.Object({
  token: text(200),
  password: Type.String({ minLength: 12, maxLength: 1024 }),
});
export const setupAnswer = Type.Object({ name: Type.String() });

export const passwordRequest = Type.Object({
  current: Type.String({ minLength: 1, maxLength: 1024 }),
  password: Type.String({ minLength: 12, maxLength: 1024 }),
});

/** The secret of a second factor, shown only once. The factor takes effect when its first code is entered. */
export const totpBegun = Type.Object({ secret: Type.String(), uri: Type.String() });
export const totpRequest = Type.Object({ code: text(32) });
/** Each replaces an authenticator code once. They are shown only once. */
export const recoveryCodes = Type.Object({ recoveryCodes: Type.Array(Type.String()) });

export const nothing = Type.Object({});
