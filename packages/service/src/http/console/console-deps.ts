import type { Logger } from 'pino';
import type { SignInDeps } from '../../console/sessions/sign-in.js';
import type { Tools } from '../../operations/operation.js';
import type { OperatorWithGateways } from '../../operator/operator.js';
import type { SingleSignOnSettings } from '../../platform/settings.js';

export interface ConsoleDeps extends Tools, SignInDeps {
  readonly operator: Omit<OperatorWithGateways, 'actor'>;
  readonly log: Logger;
  readonly singleSignOn: SingleSignOnSettings | undefined;
}

export interface ConsoleRouteContext {
  readonly isDraining: () => boolean;
  readonly readsOnly: boolean;
}
