import { Type } from '@perennial/wire';
import { changed, nextCursor, oneOf, paging, text, textOrNull, time, timeOrNull } from './parts.js';
import { role } from './session.js';

export const person = Type.Object({
  name: Type.String(),
  role,
  status: oneOf('ACTIVE', 'DISABLED'),
  hasPassword: Type.Boolean(),
  hasTotp: Type.Boolean(),
  /** True if the operator is linked to an account at the identity provider. */
  hasSingleSignOn: Type.Boolean(),
  lockedUntil: timeOrNull,
  lastSignInAt: timeOrNull,
  createdAt: time,
  createdBy: Type.String(),
});
export const people = Type.Object({ people: Type.Array(person) });
export const personRequest = Type.Object({ name: text(64), role });
/** An operator with a setup link, which sets a password. The link is shown only once and is valid for a day. */
export const personWithLink = Type.Object({ person, setupLink: Type.String() });
export const roleRequest = Type.Object({ role });
export const personChanged = Type.Object({ person, changed });

export const auditQuery = Type.Object({
  actor: Type.Optional(text(128)),
  action: Type.Optional(text(64)),
  subject: Type.Optional(text(200)),
  ...paging,
});
export const audit = Type.Object({
  entries: Type.Array(
    Type.Object({
      auditId: Type.String(),
      at: time,
      actor: Type.String(),
      /** The client's address, if the action was done in the console. */
      address: textOrNull,
      action: Type.String(),
      subject: Type.String(),
      detail: Type.Unknown(),
    }),
  ),
  nextCursor,
});
export const auditVerified = Type.Object({
  entries: Type.Integer(),
  /** The first entry that is missing or has a wrong hash or seal. Null if the log is intact. */
  brokenAt: textOrNull,
  problem: Type.OrNull(oneOf('changed', 'unsealed', 'replaced')),
  /** When all entries were last verified. A verification in the console begins with the last verified entry. */
  wholeAt: timeOrNull,
});
