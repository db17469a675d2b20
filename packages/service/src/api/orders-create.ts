import { type OrdersCreateRequest, Rejection, readCreateRequest, type SettlementMode } from '@perennial/wire';
import type { Action, ActionContext } from '../catalog/action.js';
import type { Catalog, CatalogProduct } from '../catalog/products/catalog.js';
import type { Answer } from '../platform/answers/answer.js';
import type { Clock } from '../platform/clock.js';
import { NumberTaken } from '../platform/db/database.js';
import { MAX_NUMBER_TRIES, type NumberSupply } from '../platform/db/sharing/number-supply.js';
import { describeOrder, type OrderDescription } from '../subscriptions/domain/orders/description.js';
import { type CollectedCustomer, readCustomer } from '../subscriptions/steps/agreements/for-order.js';
import type { CreateDeduct } from '../subscriptions/steps/orders/create-deduct.js';
import { collectedOrder, idempotencyRow, newOrderRow } from '../subscriptions/steps/orders/new-order.js';
import type { StoreOrder } from '../subscriptions/steps/orders/store.js';
import type { RedeemLinks } from '../subscriptions/store/orders/redeem.js';
import { externalOrderExists } from '../subscriptions/store/orders/sql.js';
import { isLong } from '../subscriptions/store/orders/text.js';
import { userRow } from '../subscriptions/store/users/mobile.js';

export interface CreateDeps {
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly links: RedeemLinks;
  readonly orderNumbers: NumberSupply;
  readonly store: StoreOrder;
  readonly deduct: CreateDeduct;
}

type Context = ActionContext<OrderDescription>;

export function createOrder(deps: CreateDeps): Action<OrdersCreateRequest, OrderDescription> {
  return async (context, request) => {
    if (context.once.interrupted !== undefined) return deps.deduct.resume(context, context.once.interrupted);
    const { channel, database } = context;
    const customer = await readCustomer(database, channel, readCreateRequest(request));
    try {
      const product = await deps.catalog.product(database, channel, request.productCode);
      checkProduct(product, request);
      if (isLong(product.totalCycles)) context.place.reserve();
      return await (customer.agreement === 'of-the-channel'
        ? collect(deps, context, request, customer, product)
        : deps.deduct.create(context, request, customer, product));
    } catch (error) {
      // A resent order hears that it exists, whatever has changed around it since. Only instead of what the business rules
      // say: once the order is stored, it is this very request that has made it.
      if (
        error instanceof Rejection &&
        error.result.isOutcome &&
        (await externalOrderExists(database, request.externalOrderNo))
      ) {
        throw new Rejection('SUBSCRIPTION_ALREADY_EXISTS');
      }
      throw error;
    }
  };
}

function checkProduct(product: CatalogProduct, request: OrdersCreateRequest): void {
  const modes: readonly SettlementMode[] = product.settlementModes;
  if (!modes.includes(request.settlementMode)) throw new Rejection('SETTLEMENT_MODE_MISMATCH');
  for (const field of ['periodType', 'period', 'totalCycles'] as const) {
    if (request[field] !== undefined && request[field] !== product[field]) {
      throw new Rejection('CYCLE_MISMATCH', `${field} is ${product[field]} for this product`);
    }
  }
}

/** Mode B: billed in the moment it is written, in one statement with everything that follows from it. */
async function collect(
  deps: CreateDeps,
  context: Context,
  request: OrdersCreateRequest,
  customer: CollectedCustomer,
  product: CatalogProduct,
  numbersTaken = 0,
): Promise<Answer> {
  const { channel, caller, once, answer } = context;
  const user = userRow(channel, customer.channelUserId, customer.mobile);
  const orderNo = await deps.orderNumbers.next();
  const created = collectedOrder(
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
  const done = answer(describeOrder(order, [payment], deps.links.terms({ order, redeemable: true })));
  const row = {
    ...newOrderRow(order, payment, created.events),
    mobile_hash: user.mobileHash.toString('hex'),
    mobile: user.mobile,
    channel_agreement_ref: request.channelAgreementRef ?? null,
    benefits: product.benefits,
    benefits_expire_at: created.benefitsExpireAt,
    idempotency: idempotencyRow(once.row, { state: 'DESCRIBED', answer: done }),
  };
  try {
    await deps.store(row, caller);
  } catch (error) {
    if (!(error instanceof NumberTaken) || numbersTaken === MAX_NUMBER_TRIES) throw error;
    deps.orderNumbers.dropBatchOf(orderNo);
    return collect(deps, context, request, customer, product, numbersTaken + 1);
  }
  once.row?.finished();
  return done;
}
