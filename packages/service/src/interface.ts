import { ENDPOINTS } from '@perennial/wire';
import type { Logger } from 'pino';
import { bindConfirm } from './api/agreements-bind-confirm.js';
import { bindSms } from './api/agreements-bind-sms.js';
import { replaceAgreement } from './api/agreements-replace.js';
import { authToken } from './api/auth-token.js';
import { provisionedList } from './api/channels-listing.js';
import { listChannelEvents } from './api/events-list.js';
import { replayChannelEvents } from './api/events-replay.js';
import { advanceOrder } from './api/orders-advance.js';
import { createOrder } from './api/orders-create.js';
import { listUserOrders } from './api/orders-list.js';
import { queryOrder } from './api/orders-query.js';
import { unsubscribe } from './api/orders-unsubscribe.js';
import { queryPayment } from './api/payments-query.js';
import type { AccessTokens } from './catalog/channels/access-token.js';
import { listAuthorizedPaymentChannels } from './catalog/payment-channels/sql.js';
import { catalog } from './catalog/products/catalog.js';
import { listAuthorizedProducts } from './catalog/products/sql.js';
import type { Gateways } from './gateways/registry.js';
import { createDescribedRoute, createRoute, type Route } from './http/routes.js';
import type { Clock } from './platform/clock.js';
import type { Database } from './platform/db/database.js';
import type { BusinessCounts } from './platform/metrics/counts.js';
import type { KeyedHasher } from './platform/secrets/keyed-hasher.js';
import type { Environment } from './platform/settings.js';
import { agreementNumbers } from './subscriptions/domain/agreements/numbers.js';
import { orderNumbers } from './subscriptions/domain/orders/numbers.js';
import { renderReplaced } from './subscriptions/steps/agreements/replace-text.js';
import { createDeduct } from './subscriptions/steps/orders/create-deduct.js';
import { orderStore } from './subscriptions/steps/orders/store.js';
import { userData } from './subscriptions/store/agreements/user-data.js';
import { redeemLinks } from './subscriptions/store/orders/redeem.js';
import { orderRenderer } from './subscriptions/store/orders/text.js';

export interface InterfaceDeps {
  readonly database: Database;
  readonly tokens: AccessTokens;
  readonly gateways: Gateways;
  readonly institutionNumbers: KeyedHasher;
  readonly bankMobiles: KeyedHasher;
  readonly clock: Clock;
  readonly log: Logger;
  readonly environment: Environment;
  /** Where redemption links lead; asked for each, since a free port is known only once it is taken. */
  readonly redeemUrl: () => string;
  readonly counts?: BusinessCounts;
  readonly debitDeadlineMs?: number;
}

/** The route table: every endpoint of the interface with the action behind it. What is the sandbox's alone is nowhere else. */
export function interfaceRoutes({ tokens, redeemUrl, ...deps }: InterfaceDeps): Route[] {
  const { database, clock } = deps;
  const links = redeemLinks(redeemUrl, clock);
  const renderOrder = orderRenderer(links);
  const shared = {
    ...deps,
    catalog: catalog(database),
    links,
    orderNumbers: orderNumbers(database),
    agreementNumbers: agreementNumbers(database),
    store: orderStore(database),
  };
  return [
    createRoute(ENDPOINTS['auth/token'], authToken(tokens)),
    createRoute(
      ENDPOINTS['products/list'],
      provisionedList('products/list', ({ productCode }) => productCode, listAuthorizedProducts),
    ),
    createRoute(
      ENDPOINTS['payment-channels/list'],
      provisionedList('payment-channels/list', ({ code }) => code, listAuthorizedPaymentChannels),
    ),
    createRoute(ENDPOINTS['agreements/bind-sms'], bindSms(shared)),
    createRoute(ENDPOINTS['agreements/bind-confirm'], bindConfirm(shared)),
    createRoute(ENDPOINTS['agreements/user-data'], userData()),
    createDescribedRoute(ENDPOINTS['agreements/replace'], replaceAgreement(shared), renderReplaced),
    createDescribedRoute(
      ENDPOINTS['orders/create'],
      createOrder({ ...shared, deduct: createDeduct(shared) }),
      renderOrder,
    ),
    createRoute(ENDPOINTS['orders/query'], queryOrder(shared)),
    createRoute(ENDPOINTS['orders/list'], listUserOrders(shared)),
    createDescribedRoute(ENDPOINTS['orders/unsubscribe'], unsubscribe(clock), renderOrder),
    createRoute(ENDPOINTS['payments/query'], queryPayment(clock)),
    createRoute(ENDPOINTS['events/list'], listChannelEvents()),
    createRoute(ENDPOINTS['events/replay'], replayChannelEvents()),
    createDescribedRoute(ENDPOINTS['sandbox/orders/advance'], advanceOrder(shared), renderOrder),
  ].filter(({ endpoint }) => deps.environment === 'sandbox' || !endpoint.sandboxOnly);
}
