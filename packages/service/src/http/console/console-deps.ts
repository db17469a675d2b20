import type { Logger } from 'pino';
import type { SignInDeps } from '../../console/sessions/sign-in.js';
import type { Tools } from '../../operations/operation.js';
import type { OperatorWithGateways } from '../../operator/operator.js';
import type { Role } from '../../operator/people/roles.js';
import type { Transactional } from '../../platform/db/database.js';
import type { SingleSignOnSettings } from '../../platform/settings/sign-in.js';
import type { LargeBodies } from '../limits/large-bodies.js';

/**
 * `database` serves requests whose operator is not known yet. It is a getter: read it once per request, because each
 * read returns a new handle.
 */
export interface ConsoleDeps extends Tools, SignInDeps {
  readonly operator: Omit<OperatorWithGateways, 'actor' | 'database'>;
  /** Returns the database within one operator's share of the console's connections. */
  readonly databaseOf: (personId: number) => Transactional;
  /** Limits the memory for bodies, because some operations accept files. */
  readonly bodies: LargeBodies;
  readonly log: Logger;
  readonly singleSignOn: SingleSignOnSettings | undefined;
  /** Roles that need a second factor, unless the identity provider has authenticated the operator. */
  readonly totpRoles: readonly Role[];
}

export interface ConsoleRouteContext {
  readonly isDraining: () => boolean;
  readonly readsOnly: boolean;
}
