import { ENDPOINTS } from '@perennial/wire';
import type { Logger } from 'pino';
import { bindConfirm } from './api/agreements-bind-confirm.js';
import { bindSms } from './api/agreements-bind-sms.js';
import { replaceAgreement } from './api/agreements-replace.js';
import { userData } from './api/agreements-user-data.js';
import { authToken } from './api/auth-token.js';
import { listChannelEvents } from './api/events-list.js';
import { replayChannelEvents } from './api/events-replay.js';
import { advanceOrder } from './api/orders-advance.js';
import { createOrder } from './api/orders-create.js';
import { listUserOrders } from './api/orders-list.js';
import { queryOrder } from './api/orders-query.js';
import { unsubscribe } from './api/orders-unsubscribe.js';
import { queryPayment } from './api/payments-query.js';
import { provisionedList } from './api/provisioned-list.js';
import type { AccessTokens } from './catalog/channels/access-token.js';
import { listAuthorizedPaymentChannels } from './catalog/payment-channels/list-payment-channels-sql.js';
import { catalog } from './catalog/products/catalog.js';
import { listAuthorizedProducts } from './catalog/products/list-products-sql.js';
import type { Gateways } from './gateways/gateway-registry.js';
import { describedRoute, type Route, route } from './http/routes.js';
import type { Clock } from './platform/clock.js';
import type { Database } from './platform/db/database.js';
import type { BusinessCounts } from './platform/metrics/counts.js';
import type { LookUp } from './platform/secrets/look-up.js';
import type { Environment } from './platform/settings.js';
import { createAgreementNumbers } from './subscriptions/domain/agreements/numbers.js';
import { createOrderNumbers } from './subscriptions/domain/orders/order-numbers.js';
import { renderReplaced } from './subscriptions/steps/agreements/replacement-text.js';
import { createDeduct } from './subscriptions/steps/orders/create-deducted-order.js';
import { orderStore } from './subscriptions/steps/orders/order-store.js';
import { createOrderRenderer } from './subscriptions/store/orders/order-text.js';
import { createRedeemLinks } from './subscriptions/store/orders/redeem-links.js';

export interface InterfaceDeps {
  readonly database: Database;
  readonly tokens: AccessTokens;
  readonly gateways: Gateways;
  readonly institutionNumbers: LookUp;
  readonly bankMobiles: LookUp;
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
  const links = createRedeemLinks(redeemUrl, clock);
  const renderOrder = createOrderRenderer(links);
  const shared = {
    ...deps,
    catalog: catalog(database),
    links,
    orderNumbers: createOrderNumbers(database),
    agreementNumbers: createAgreementNumbers(database),
    store: orderStore(database),
  };
  return [
    route(ENDPOINTS['auth/token'], authToken(tokens)),
    route(
      ENDPOINTS['products/list'],
      provisionedList('products/list', ({ productCode }) => productCode, listAuthorizedProducts),
    ),
    route(
      ENDPOINTS['payment-channels/list'],
      provisionedList('payment-channels/list', ({ code }) => code, listAuthorizedPaymentChannels),
    ),
    route(ENDPOINTS['agreements/bind-sms'], bindSms(shared)),
    route(ENDPOINTS['agreements/bind-confirm'], bindConfirm(shared)),
    route(ENDPOINTS['agreements/user-data'], userData()),
    describedRoute(ENDPOINTS['agreements/replace'], replaceAgreement(shared), renderReplaced),
    describedRoute(ENDPOINTS['orders/create'], createOrder({ ...shared, deduct: createDeduct(shared) }), renderOrder),
    route(ENDPOINTS['orders/query'], queryOrder(shared)),
    route(ENDPOINTS['orders/list'], listUserOrders(shared)),
    describedRoute(ENDPOINTS['orders/unsubscribe'], unsubscribe(clock), renderOrder),
    route(ENDPOINTS['payments/query'], queryPayment(clock)),
    route(ENDPOINTS['events/list'], listChannelEvents()),
    route(ENDPOINTS['events/replay'], replayChannelEvents()),
    describedRoute(ENDPOINTS['sandbox/orders/advance'], advanceOrder(shared), renderOrder),
  ].filter(({ endpoint }) => deps.environment === 'sandbox' || !endpoint.sandboxOnly);
}
