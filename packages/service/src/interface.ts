import { ENDPOINTS } from '@perennial/wire';
import type { Logger } from 'pino';
import { bindConfirm } from './agreements/bind-confirm.js';
import { bindSms } from './agreements/bind-sms.js';
import { agreementNumbers } from './agreements/numbers.js';
import { replaceAgreement } from './agreements/replace.js';
import { renderReplaced } from './agreements/replace-text.js';
import { userData } from './agreements/user-data.js';
import type { AccessTokens } from './channels/access-token.js';
import { authToken } from './channels/auth-token.js';
import { provisionedList } from './channels/listing.js';
import type { Clock } from './clock.js';
import type { Database } from './db/database.js';
import type { Gateways } from './gateways/registry.js';
import { describedRoute, type Route, route } from './http/routes.js';
import type { BusinessCounts } from './metrics/counts.js';
import { advanceOrder } from './orders/advance.js';
import { createOrder } from './orders/create.js';
import { createDeduct } from './orders/create-deduct.js';
import { listUserOrders } from './orders/list.js';
import { orderNumbers } from './orders/numbers.js';
import { queryOrder } from './orders/query.js';
import { redeemLinks } from './orders/redeem.js';
import { orderStore } from './orders/store.js';
import { orderRenderer } from './orders/text.js';
import { unsubscribe } from './orders/unsubscribe.js';
import { listAuthorizedPaymentChannels } from './payment-channels/sql.js';
import { queryPayment } from './payments/query.js';
import { catalog } from './products/catalog.js';
import { listAuthorizedProducts } from './products/sql.js';
import type { LookUp } from './secrets/look-up.js';
import type { Environment } from './settings.js';
import { listChannelEvents } from './webhooks/list.js';
import { replayChannelEvents } from './webhooks/replay.js';

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
