import { ENDPOINTS, type EndpointName } from '@perennial/wire';
import { createBindConfirmAction } from './api/agreements-bind-confirm.js';
import { createBindSmsAction } from './api/agreements-bind-sms.js';
import { createReplaceAction } from './api/agreements-replace.js';
import { createUserDataAction } from './api/agreements-user-data.js';
import type { ApiDeps } from './api/api-deps.js';
import { createAuthTokenAction } from './api/auth-token.js';
import { createDeductedOrderCreator } from './api/creation/create-deducted-order.js';
import { createOrderStore } from './api/creation/order-store.js';
import { createEventsListAction } from './api/events-list.js';
import { createEventsPullAction } from './api/events-pull.js';
import { createEventsReplayAction } from './api/events-replay.js';
import { createEventsTestAction, type TestEventDeps } from './api/events-test.js';
import { createOrdersAdvanceAction } from './api/orders-advance.js';
import { createOrdersCreateAction } from './api/orders-create.js';
import { createOrdersListAction } from './api/orders-list.js';
import { createOrdersQueryAction } from './api/orders-query.js';
import { createOrdersUnsubscribeAction } from './api/orders-unsubscribe.js';
import { createPaymentsQueryAction } from './api/payments-query.js';
import { createPaymentsRefundAction } from './api/payments-refund.js';
import { createProvisionedListAction } from './api/provisioned-list.js';
import { createRequestsListAction } from './api/requests-list.js';
import type { AccessTokens } from './catalog/channels/access-token.js';
import { listAuthorizedPaymentChannels } from './catalog/payment-channels/list-payment-channels-sql.js';
import { createCatalog } from './catalog/products/catalog.js';
import { listAuthorizedProducts } from './catalog/products/list-products-sql.js';
import { createDescribedRoute, createOrderRoute, createRoute, type Route } from './http/routes.js';
import { createOwnSettingsAction, type OwnSettingsDeps } from './operator/provisioning/own-settings.js';
import { createOrderRenderer } from './subscriptions/domain/orders/order-text.js';
import { createRedeemLinks } from './subscriptions/domain/orders/redeem-links.js';
import { renderReplacement } from './subscriptions/domain/orders/replacement-text.js';
import { findOrderReference } from './subscriptions/steps/orders/order-reference.js';
import { createKnownDebitSettler } from './subscriptions/steps/payments/settle-known-debits.js';
import { createAgreementNumbers } from './subscriptions/store/agreements/agreements-sql.js';
import { createOrderNumbers } from './subscriptions/store/orders/new-orders-sql.js';

export interface InterfaceDeps
  extends Omit<ApiDeps, 'catalog' | 'orderNumbers' | 'agreementNumbers' | 'links'>,
    TestEventDeps,
    OwnSettingsDeps {
  readonly tokens: AccessTokens;
  /** URL of redemption links. A function, because a port that the system chooses is known only after listening. */
  readonly redeemUrl: () => string;
}

/** Maps each endpoint to its route. A missing or misnamed route does not compile. */
type RouteTable = { readonly [Name in EndpointName]: Route<Name> };

/** Returns the routes of all endpoints. Sandbox endpoints exist only in a sandbox. */
export function createInterfaceRoutes({ tokens, redeemUrl, ...deps }: InterfaceDeps): Route[] {
  const { database, clock } = deps;
  const links = createRedeemLinks(redeemUrl, clock);
  const renderOrder = createOrderRenderer(links);
  const shared = {
    ...deps,
    catalog: createCatalog(database),
    links,
    orderNumbers: createOrderNumbers(database),
    agreementNumbers: createAgreementNumbers(database),
    store: createOrderStore(database),
    settleKnown: createKnownDebitSettler(database),
  };
  const routes: RouteTable = {
    'auth/token': createRoute(ENDPOINTS['auth/token'], createAuthTokenAction(tokens)),
    'products/list': createRoute(
      ENDPOINTS['products/list'],
      createProvisionedListAction('products/list', ({ productCode }) => productCode, listAuthorizedProducts),
    ),
    'payment-channels/list': createRoute(
      ENDPOINTS['payment-channels/list'],
      createProvisionedListAction('payment-channels/list', ({ code }) => code, listAuthorizedPaymentChannels),
    ),
    'agreements/bind-sms': createRoute(ENDPOINTS['agreements/bind-sms'], createBindSmsAction(shared)),
    'agreements/bind-confirm': createRoute(ENDPOINTS['agreements/bind-confirm'], createBindConfirmAction(shared)),
    'agreements/user-data': createRoute(ENDPOINTS['agreements/user-data'], createUserDataAction()),
    'agreements/replace': createDescribedRoute(
      ENDPOINTS['agreements/replace'],
      createReplaceAction(shared),
      renderReplacement,
    ),
    'orders/create': createDescribedRoute(
      ENDPOINTS['orders/create'],
      createOrdersCreateAction({ ...shared, deduct: createDeductedOrderCreator(shared) }),
      renderOrder,
    ),
    'orders/query': createOrderRoute(
      ENDPOINTS['orders/query'],
      findOrderReference,
      createOrdersQueryAction({ clock, links }),
    ),
    'orders/list': createRoute(ENDPOINTS['orders/list'], createOrdersListAction(shared)),
    'orders/unsubscribe': createDescribedRoute(
      ENDPOINTS['orders/unsubscribe'],
      createOrdersUnsubscribeAction(clock),
      renderOrder,
    ),
    'payments/query': createRoute(ENDPOINTS['payments/query'], createPaymentsQueryAction(clock)),
    'events/list': createRoute(ENDPOINTS['events/list'], createEventsListAction()),
    'events/replay': createRoute(ENDPOINTS['events/replay'], createEventsReplayAction()),
    'sandbox/orders/advance': createDescribedRoute(
      ENDPOINTS['sandbox/orders/advance'],
      createOrdersAdvanceAction(shared),
      renderOrder,
    ),
    'sandbox/payments/refund': createRoute(ENDPOINTS['sandbox/payments/refund'], createPaymentsRefundAction(shared)),
    'sandbox/events/pull': createRoute(ENDPOINTS['sandbox/events/pull'], createEventsPullAction(shared)),
    'sandbox/events/test': createRoute(ENDPOINTS['sandbox/events/test'], createEventsTestAction(deps)),
    'sandbox/requests/list': createRoute(ENDPOINTS['sandbox/requests/list'], createRequestsListAction()),
    'sandbox/channel/set': createRoute(ENDPOINTS['sandbox/channel/set'], createOwnSettingsAction(deps)),
  };
  return Object.values(routes).filter(({ endpoint }) => deps.environment === 'sandbox' || !endpoint.sandboxOnly);
}
