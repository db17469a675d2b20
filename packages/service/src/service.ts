import { ENDPOINTS } from '@perennial/wire';
import type { Logger } from 'pino';
import { accessTokens } from './channels/access-token.js';
import { authToken } from './channels/auth-token.js';
import { provisionedList } from './channels/listing.js';
import { channelRegistry } from './channels/registry.js';
import type { Clock } from './clock.js';
import type { Database } from './db/database.js';
import { tidy } from './engine/housekeeping.js';
import { every } from './engine/timer.js';
import { addressLimit } from './http/address-limit.js';
import { admission } from './http/admission.js';
import { type App, createApp, type HttpLimits } from './http/app.js';
import { serviceMetrics } from './http/metrics.js';
import { type Route, route } from './http/routes.js';
import { type OnceOptions, onceRunner } from './idempotency/once.js';
import { listAuthorizedPaymentChannels } from './payment-channels/sql.js';
import { listAuthorizedProducts } from './products/sql.js';
import type { Vault } from './secrets/vault.js';

export interface ServiceDeps {
  readonly database: Database;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly log: Logger;
  readonly trustedProxies: readonly string[];
  readonly authFailuresPerMinute: number;
  readonly httpLimits?: Partial<HttpLimits>;
  readonly idempotency?: OnceOptions;
  /** Routes beside the interface's own. */
  readonly moreRoutes?: readonly Route[];
}

export interface Service extends App {
  stop(): Promise<void>;
}

/** Everything a node does, put together. It has no settings and no signals: those are main's. */
export function createService(deps: ServiceDeps): Service {
  const { database, vault, clock, log } = deps;
  const metrics = serviceMetrics(database);
  const tokens = accessTokens(vault, clock);
  const app = createApp({
    routes: [...interfaceRoutes(database, tokens), ...(deps.moreRoutes ?? [])],
    database,
    clock,
    metrics,
    log,
    trustedProxies: deps.trustedProxies,
    ...(deps.httpLimits ? { httpLimits: deps.httpLimits } : {}),
    addresses: addressLimit(deps.authFailuresPerMinute),
    admit: admission({
      database,
      tokens,
      channels: channelRegistry(database, vault),
      observeBatch: metrics.observeBatch,
    }),
    runOnce: onceRunner(database, deps.idempotency),
  });
  const housekeeping = every(60, 'housekeeping', log, () => tidy(database));
  return {
    ...app,
    async stop() {
      await Promise.all([app.drain(), housekeeping.stop()]);
    },
  };
}

function interfaceRoutes(database: Database, tokens: ReturnType<typeof accessTokens>): Route[] {
  return [
    route(ENDPOINTS['auth/token'], authToken(tokens)),
    route(
      ENDPOINTS['products/list'],
      provisionedList((...page) => listAuthorizedProducts(database, ...page)),
    ),
    route(
      ENDPOINTS['payment-channels/list'],
      provisionedList((...page) => listAuthorizedPaymentChannels(database, ...page)),
    ),
  ];
}
