import {
  type CodeName,
  type OrdersCreateRequest,
  Rejection,
  readCreateRequest,
  type SettlementMode,
} from '@perennial/wire';
import { alertText } from '../alerts/alert-wordings.js';
import { raiseAlert } from '../alerts/alerts-sql.js';
import type { Action, ActionContext } from '../catalog/action.js';
import type { Channel } from '../catalog/channels/channel.js';
import type { CatalogProduct } from '../catalog/products/catalog.js';
import type { Answer } from '../platform/answers/answer.js';
import { NumberTaken, type Queryable } from '../platform/db/database.js';
import { MAX_NUMBER_TRIES } from '../platform/db/sharing/number-supply.js';
import { createOrderDescription, type OrderDescription } from '../subscriptions/domain/orders/order-description.js';
import { isLongAnswer } from '../subscriptions/domain/orders/order-text.js';
import { createUserRow } from '../subscriptions/steps/users/login-mobile.js';
import { findOwnerOfExternalOrder } from '../subscriptions/store/orders/orders-sql.js';
import type { ApiDeps } from './api-deps.js';
import { type CollectedCustomer, readCustomer } from './creation/agreement-for-order.js';
import type { DeductedOrderCreator } from './creation/create-deducted-order.js';
import { newCollectedOrder, toIdempotencyInsert, toOrderInsert } from './creation/new-order.js';
import type { StoreOrder } from './creation/order-store.js';

export interface CreateOrderDeps extends Pick<ApiDeps, 'catalog' | 'clock' | 'links' | 'orderNumbers'> {
  readonly store: StoreOrder;
  readonly deduct: DeductedOrderCreator;
}

type Context = ActionContext<OrderDescription>;

export function createOrdersCreateAction(deps: CreateOrderDeps): Action<OrdersCreateRequest, OrderDescription> {
  return async (context, request) => {
    if (context.once.interrupted !== undefined) return deps.deduct.resume(context, context.once.interrupted);
    const { channel, database } = context;
    const customer = await readCustomer(context, database, readCreateRequest(request));
    try {
      const product = await deps.catalog.requireProduct(database, channel, request.productCode);
      requireMatchingProduct(product, request);
      if (isLongAnswer(product.totalCycles)) context.place.reserve();
      return await (customer.agreement === 'of-the-channel'
        ? createCollectedOrder(deps, context, request, customer, product)
        : deps.deduct.create(context, request, customer, product));
    } catch (error) {
      if (!(error instanceof Rejection) || !error.result.isOutcome) throw error;
      throw (await findUsedNumber(database, channel, request.externalOrderNo, error)) ?? error;
    }
  };
}

/** The refusals of a channel that may not sell the product. */
const PRODUCT_REFUSALS: readonly CodeName[] = [
  'PRODUCT_NOT_FOUND',
  'PRODUCT_NOT_AUTHORIZED',
  'SETTLEMENT_MODE_MISMATCH',
];

/**
 * Returns the refusal 420002 if the number is in use. This request has not stored that order, because business rules are
 * checked before storing. For a number of the channel itself 420002 replaces every refusal: a repeated request may
 * violate a rule that the first request did not violate. A number of another channel is reported, and alerted, only to a
 * channel that may sell the product: otherwise channels could probe for numbers without leaving a trace.
 */
async function findUsedNumber(
  db: Queryable,
  { appId }: Channel,
  externalOrderNo: string,
  refusal: Rejection,
): Promise<Rejection | undefined> {
  const owner = await findOwnerOfExternalOrder(db, externalOrderNo);
  if (!owner) return undefined;
  if (owner.appId !== appId) {
    if (PRODUCT_REFUSALS.includes(refusal.result.name)) return undefined;
    const kind = 'order-number-of-another-channel';
    await raiseAlert(db, kind, `${appId} ${owner.appId}`, alertText(kind));
  }
  return new Rejection('SUBSCRIPTION_ALREADY_EXISTS');
}

function requireMatchingProduct(product: CatalogProduct, request: OrdersCreateRequest): void {
  const modes: readonly SettlementMode[] = product.settlementModes;
  if (!modes.includes(request.settlementMode)) throw new Rejection('SETTLEMENT_MODE_MISMATCH');
  for (const field of ['periodType', 'period', 'totalCycles'] as const) {
    if (request[field] !== undefined && request[field] !== product[field]) {
      throw new Rejection('CYCLE_MISMATCH', `${field} must be ${product[field]}, as in the product`);
    }
  }
}

/** Mode B. Stores and bills the order in one statement, with its first period, its benefits and its events. */
async function createCollectedOrder(
  deps: CreateOrderDeps,
  context: Context,
  request: OrdersCreateRequest,
  customer: CollectedCustomer,
  product: CatalogProduct,
  numbersTaken = 0,
): Promise<Answer> {
  const { channel, caller, once, answer } = context;
  const user = createUserRow(channel, customer.channelUserId, customer.mobile);
  const orderNo = await deps.orderNumbers.next();
  const created = newCollectedOrder(
    {
      orderNo,
      channelId: channel.channelId,
      externalOrderNo: request.externalOrderNo,
      channelUserId: user.channelUserId,
    },
    product,
    deps.clock.now(),
  );
  const { order, payment } = created;
  // The API promises a link in mode B, even for a product without benefits.
  const done = answer(createOrderDescription(order, [payment], deps.links.termsFor({ order, redeemable: true })));
  const row = {
    order: toOrderInsert(order, payment, {
      mobile: { hash: user.mobileHash.toString('hex'), sealed: user.mobile },
      channelAgreementRef: request.channelAgreementRef ?? undefined,
      noticeDays: channel.upcomingNoticeDays,
      benefitsExpireAt: created.benefitsExpireAt,
      debit: undefined,
    }),
    benefits: product.benefits,
    events: created.events,
    idempotency: toIdempotencyInsert(once.row, { state: 'DESCRIBED', answer: done }),
  };
  try {
    await deps.store(row, caller);
  } catch (error) {
    if (!(error instanceof NumberTaken) || numbersTaken === MAX_NUMBER_TRIES) throw error;
    deps.orderNumbers.dropBatchOf(orderNo);
    return createCollectedOrder(deps, context, request, customer, product, numbersTaken + 1);
  }
  once.row?.finished();
  return done;
}
