import { type OrdersCreateRequest, Rejection } from '@perennial/wire';
import type { ActionContext } from '../../catalog/action.js';
import type { Channel } from '../../catalog/channels/channel.js';
import type { CatalogProduct } from '../../catalog/products/catalog.js';
import type { DebitOutcome, Gateway } from '../../gateways/gateway.js';
import type { Answer } from '../../platform/answers/answer.js';
import { NumberTaken, type Queryable } from '../../platform/db/database.js';
import { MAX_NUMBER_TRIES } from '../../platform/db/sharing/number-supply.js';
import type { Order, Payment } from '../../subscriptions/domain/orders/order.js';
import { createOrderDescription, type OrderDescription } from '../../subscriptions/domain/orders/order-description.js';
import { askSecondsNamedBy } from '../../subscriptions/domain/payments/debit-policy.js';
import { alertNumberOfAnotherChannel } from '../../subscriptions/steps/agreements/alert-number-of-another-channel.js';
import { NumberOfAnotherChannel } from '../../subscriptions/steps/agreements/shared-agreement.js';
import {
  askDebit,
  createDebitRequest,
  rejectWrongAmount,
  sendDebit,
} from '../../subscriptions/steps/payments/send-debit.js';
import { settleDebit } from '../../subscriptions/steps/payments/settle-debits.js';
import { planKnownSettlement, type SettleKnown } from '../../subscriptions/steps/payments/settle-known-debits.js';
import { findInstitutionNo } from '../../subscriptions/store/agreements/find-institution-no-sql.js';
import { findOrderWithPayments } from '../../subscriptions/store/orders/orders-sql.js';
import {
  type Attempt,
  findLastTryOfFirstPeriod,
  scheduleDebitQuestion,
} from '../../subscriptions/store/payments/attempts-sql.js';
import type { ApiDeps } from '../api-deps.js';
import {
  type AgreementForOrder,
  type DeductedCustomer,
  followReplacedBinding,
  prepareAgreement,
} from './agreement-for-order.js';
import { newDeductedOrder, toIdempotencyInsert, toOrderInsert, toOwedAnswer } from './new-order.js';
import type { StoreOrder } from './order-store.js';

type Context = ActionContext<OrderDescription>;

/** An order as it was stored before its debit. */
interface StoredOrder {
  readonly order: Order;
  readonly payment: Payment;
  readonly agreement: AgreementForOrder;
  readonly product: CatalogProduct;
  readonly gateway: Promise<Gateway>;
}

export interface DeductDeps
  extends Pick<
    ApiDeps,
    | 'catalog'
    | 'gateways'
    | 'institutionNumbers'
    | 'clock'
    | 'log'
    | 'links'
    | 'orderNumbers'
    | 'agreementNumbers'
    | 'counts'
    | 'debitDeadlineMs'
  > {
  readonly store: StoreOrder;
  readonly settleKnown: SettleKnown;
}

/**
 * Mode A. Stores the order with its first debit attempt, calls the institution without any lock or transaction, then
 * settles the outcome. A crash before the settlement leaves an open attempt. The repeated request or the recovery job
 * then asks the institution.
 */
export function createDeductedOrderCreator(deps: DeductDeps) {
  const { gateways, clock, links } = deps;

  /**
   * Settles the debit in the usual case: the outcome is known and affects only this order, and the rows are still as
   * this node stored them. Otherwise writes nothing and returns undefined.
   */
  async function settleAsKnown(
    { caller, once, answer }: Context,
    stored: StoredOrder,
    outcome: DebitOutcome,
  ): Promise<Answer | undefined> {
    if (outcome.kind !== 'success' && outcome.kind !== 'declined') return undefined;
    const { order: before, payment: open, agreement, product } = stored;
    const settlement = planKnownSettlement(before, open, agreement.agreementId, outcome, clock.now());
    if (!settlement) return undefined;
    const { order, payment, issuesBenefits } = settlement.settled;
    const redeemable = issuesBenefits && product.benefits.length > 0;
    const done = answer(createOrderDescription(order, [payment], links.termsFor({ order, redeemable })));
    if (!(await deps.settleKnown(settlement, toOwedAnswer(once.row, done), caller))) return undefined;
    once.row?.finished();
    deps.counts?.countDebit(agreement.paymentChannelCode, outcome.kind);
    return done;
  }

  async function settleAndAnswer(context: Context, attempt: Attempt, outcome: DebitOutcome): Promise<Answer> {
    const { channel, database, once, answer } = context;
    const isFinal = outcome.kind === 'success' || outcome.kind === 'declined';
    const concluded = await database.transaction(async (tx) => {
      const settled = isFinal ? await settleDebit(tx, attempt, outcome, clock.now()) : undefined;
      const named = askSecondsNamedBy(outcome, clock.now());
      if (named !== undefined) await scheduleDebitQuestion(tx, attempt, named);
      const finished = await once.finish(tx, answer(await findDescription(tx, channel, attempt.orderNo)));
      return { finished, isSettled: settled?.changed === true };
    });
    if (concluded.isSettled) deps.counts?.countDebit(attempt.paymentChannelCode, outcome.kind);
    return concluded.finished;
  }

  async function findDescription(tx: Queryable, channel: Channel, orderNo: number): Promise<OrderDescription> {
    const found = await findOrderWithPayments(tx, channel.channelId, { orderNo }, clock.now());
    if (!found) throw new Error(`order ${orderNo} was stored but does not exist`);
    return createOrderDescription(found.order, found.payments, links.termsFor(found));
  }

  /** Runs the first transaction. If the card's binding has just been replaced, uses the replacement. */
  async function storeNewOrder(
    context: Context,
    request: OrdersCreateRequest,
    customer: DeductedCustomer,
    product: CatalogProduct,
    numbersTaken = 0,
  ): Promise<StoredOrder> {
    const { channel, caller, database, once } = context;
    const agreement = await prepareAgreement({ ...deps, database }, channel, customer);
    const orderNo = await deps.orderNumbers.next();
    const identity = {
      orderNo,
      channelId: channel.channelId,
      externalOrderNo: request.externalOrderNo,
      channelUserId: agreement.channelUserId,
    };
    const { order, payment, events } = newDeductedOrder(identity, product, agreement, clock.now());
    const row = {
      order: toOrderInsert(order, payment, {
        mobile: agreement.mobile,
        channelAgreementRef: undefined,
        noticeDays: channel.upcomingNoticeDays,
        benefitsExpireAt: undefined,
        debit: {
          paymentChannelCode: agreement.paymentChannelCode,
          agreement: agreement.insert,
          exclusiveNumber: agreement.exclusiveNumber?.institutionHash,
        },
      }),
      benefits: [],
      events,
      idempotency: toIdempotencyInsert(once.row, { state: 'RUNNING', subject: String(orderNo) }),
    };
    const gateway = gateways.of(agreement.paymentChannelCode);
    // The gateway is loaded while the order is being stored. If storing fails, nothing awaits the gateway, so its error
    // must be handled here.
    gateway.catch(() => undefined);
    try {
      await deps.store(row, caller);
    } catch (error) {
      if (error instanceof NumberTaken && numbersTaken < MAX_NUMBER_TRIES) {
        deps.orderNumbers.dropBatchOf(orderNo);
        deps.agreementNumbers.dropBatchOf(agreement.agreementId);
        return storeNewOrder(context, request, customer, product, numbersTaken + 1);
      }
      if (error instanceof NumberOfAnotherChannel && agreement.exclusiveNumber) {
        await alertNumberOfAnotherChannel(deps.log, context, agreement.exclusiveNumber);
      }
      const replaced = isNotBound(error) && (await followReplacedBinding(database, channel, customer));
      if (!replaced) throw error;
      return storeNewOrder(context, request, replaced, product);
    }
    once.row?.begun();
    return { order, payment, agreement, product, gateway };
  }

  return {
    async create(
      context: Context,
      asked: OrdersCreateRequest,
      customer: DeductedCustomer,
      product: CatalogProduct,
    ): Promise<Answer> {
      const { channel, caller, database } = context;
      const stored = await storeNewOrder(context, asked, customer, product);
      const { order, agreement } = stored;
      const attempt: Attempt = {
        orderNo: order.orderNo,
        cycleNo: 1,
        tryNo: 1,
        channelId: order.channelId,
        agreementId: agreement.agreementId,
        paymentChannelCode: agreement.paymentChannelCode,
        amountCent: order.amountCent,
        status: 'STARTED',
        startedAt: order.createdAt,
        asked: 0,
        externalOrderNo: order.externalOrderNo,
      };
      const gateway = await stored.gateway;
      const request = createDebitRequest(attempt, channel, agreement.institutionNo, context.origin);
      const said = await caller.waitOutside(() => sendDebit(gateway, request, deps.debitDeadlineMs));
      const outcome = await rejectWrongAmount(database, attempt, said);
      if (outcome.kind === 'pending' || outcome.kind === 'unknown') {
        deps.counts?.countDebit(attempt.paymentChannelCode, outcome.kind);
      }
      return (await settleAsKnown(context, stored, outcome)) ?? settleAndAnswer(context, attempt, outcome);
    },

    async resume(context: Context, subject: string): Promise<Answer> {
      const { channel, caller, database } = context;
      const attempt = await findLastTryOfFirstPeriod(database, Number(subject));
      if (!attempt) throw new Error(`order ${subject} was begun but has no attempt`);
      // A job or a notice has already settled the debit. Only the answer is missing.
      if (attempt.status !== 'STARTED') return settleAndAnswer(context, attempt, { kind: 'unknown' });
      const institutionNo = await findInstitutionNo(database, channel, attempt.agreementId);
      const gateway = await gateways.of(attempt.paymentChannelCode);
      const request = createDebitRequest(attempt, channel, institutionNo, context.origin);
      const outcome = await caller.waitOutside(() => askDebit(gateway, request, deps.debitDeadlineMs));
      return settleAndAnswer(context, attempt, await rejectWrongAmount(database, attempt, outcome));
    },
  };
}

export type DeductedOrderCreator = ReturnType<typeof createDeductedOrderCreator>;

function isNotBound(error: unknown): boolean {
  return error instanceof Rejection && error.result.name === 'AGREEMENT_NOT_BOUND';
}
