import { type OrdersCreateRequest, Rejection } from '@perennial/wire';
import type { Logger } from 'pino';
import type { ActionContext } from '../../../catalog/action.js';
import type { Channel } from '../../../catalog/channels/channel.js';
import type { Catalog, CatalogProduct } from '../../../catalog/products/catalog.js';
import type { DebitOutcome } from '../../../gateways/gateway.js';
import type { Gateways } from '../../../gateways/registry.js';
import type { Answer } from '../../../platform/answers/answer.js';
import type { Clock } from '../../../platform/clock.js';
import { NumberTaken, type Queryable } from '../../../platform/db/database.js';
import { MAX_NUMBER_TRIES, type NumberSupply } from '../../../platform/db/sharing/number-supply.js';
import type { BusinessCounts } from '../../../platform/metrics/counts.js';
import type { KeyedHasher } from '../../../platform/secrets/keyed-hasher.js';
import { describeOrder, type OrderDescription } from '../../domain/orders/description.js';
import type { Order } from '../../domain/orders/order.js';
import { FIRST_ASK_SECONDS, namedAskSeconds } from '../../domain/payments/policy.js';
import { institutionNoOf } from '../../store/agreements/institution.js';
import { NumberOfAnotherChannel } from '../../store/agreements/shared.js';
import type { RedeemLinks } from '../../store/orders/redeem.js';
import { findOrder } from '../../store/orders/sql.js';
import { type Attempt, askAgainIn, findFirstAttempt } from '../../store/payments/attempts-sql.js';
import {
  type AgreementForOrder,
  agreementForOrder,
  type DeductedCustomer,
  withBindingInForce,
} from '../agreements/for-order.js';
import { alertForeignNumber } from '../agreements/foreign-number.js';
import { askDebit, debitRequest, rejectWrongAmount, sendDebit } from '../payments/debit.js';
import { settleOne } from '../payments/settle.js';
import { deductedOrder, idempotencyRow, newOrderRow } from './new-order.js';
import type { StoreOrder } from './store.js';

type Context = ActionContext<OrderDescription>;

export interface CreateDeduct {
  create(
    context: Context,
    request: OrdersCreateRequest,
    customer: DeductedCustomer,
    product: CatalogProduct,
  ): Promise<Answer>;
  /** Goes on with a creation that was cut off between its two transactions. */
  resume(context: Context, orderNo: string): Promise<Answer>;
}

export interface DeductDeps {
  readonly catalog: Catalog;
  readonly gateways: Gateways;
  readonly institutionNumbers: KeyedHasher;
  readonly clock: Clock;
  readonly log: Logger;
  readonly links: RedeemLinks;
  readonly orderNumbers: NumberSupply;
  readonly agreementNumbers: NumberSupply;
  readonly store: StoreOrder;
  readonly counts?: BusinessCounts;
  /** In place of the policy's, for a test that cannot wait. */
  readonly debitDeadlineMs?: number;
}

/**
 * Mode A: everything is written down, then the institution is called with nothing held, then the result is settled. A
 * crash anywhere between leaves an attempt that is asked about, by the resend or by the job that recovers debits.
 */
export function createDeduct(deps: DeductDeps): CreateDeduct {
  const { gateways, clock, links } = deps;

  async function conclude(context: Context, attempt: Attempt, outcome: DebitOutcome): Promise<Answer> {
    const { channel, database, once, answer } = context;
    const isFinal = outcome.kind === 'success' || outcome.kind === 'declined';
    const concluded = await database.transaction(async (tx) => {
      const settled = isFinal ? await settleOne(tx, attempt, outcome, clock.now()) : undefined;
      const named = namedAskSeconds(outcome, clock.now());
      if (named !== undefined) await askAgainIn(tx, attempt, named);
      const finished = await once.finish(tx, answer(await describe(tx, channel, attempt.orderNo)));
      return { finished, isSettled: settled?.changed === true };
    });
    if (concluded.isSettled) deps.counts?.countDebit(attempt.paymentChannelCode, outcome.kind);
    return concluded.finished;
  }

  async function describe(tx: Queryable, channel: Channel, orderNo: number): Promise<OrderDescription> {
    const found = await findOrder(tx, channel.channelId, { orderNo }, clock.now());
    if (!found) throw new Error(`order ${orderNo} was stored and is not there`);
    return describeOrder(found.order, found.payments, links.terms(found));
  }

  /** The first transaction. A binding that another of the same card replaced in this moment stands for that one. */
  async function writeDown(
    context: Context,
    request: OrdersCreateRequest,
    customer: DeductedCustomer,
    product: CatalogProduct,
    numbersTaken = 0,
  ): Promise<{ readonly order: Order; readonly agreement: AgreementForOrder }> {
    const { channel, caller, database, once } = context;
    const agreement = await agreementForOrder({ ...deps, database }, channel, customer);
    const orderNo = await deps.orderNumbers.next();
    const identity = {
      orderNo,
      channelId: channel.channelId,
      externalOrderNo: request.externalOrderNo,
      channelUserId: agreement.channelUserId,
    };
    const { order, payment, events } = deductedOrder(identity, product, agreement, clock.now());
    const row = {
      ...newOrderRow(order, payment, events),
      ...agreementColumns(agreement),
      ask_after_seconds: FIRST_ASK_SECONDS,
      idempotency: idempotencyRow(once.row, { state: 'RUNNING', subject: String(orderNo) }),
    };
    try {
      await deps.store(row, caller);
    } catch (error) {
      if (error instanceof NumberTaken && numbersTaken < MAX_NUMBER_TRIES) {
        deps.orderNumbers.dropBatchOf(orderNo);
        deps.agreementNumbers.dropBatchOf(agreement.agreementId);
        return writeDown(context, request, customer, product, numbersTaken + 1);
      }
      if (error instanceof NumberOfAnotherChannel && agreement.exclusiveNumber) {
        await alertForeignNumber(deps.log, context, agreement.exclusiveNumber);
      }
      const replaced = isNotBound(error) && (await withBindingInForce(database, channel, customer));
      if (!replaced) throw error;
      return writeDown(context, request, replaced, product);
    }
    once.row?.begun();
    return { order, agreement };
  }

  return {
    async create(context, asked, customer, product) {
      const { channel, caller, database } = context;
      const { order, agreement } = await writeDown(context, asked, customer, product);
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
      const gateway = await gateways.of(agreement.paymentChannelCode);
      const request = debitRequest(attempt, channel, agreement.institutionNo, context.origin);
      const said = await caller.waitOutside(() => sendDebit(gateway, request, deps.debitDeadlineMs));
      const outcome = await rejectWrongAmount(database, attempt, said);
      if (outcome.kind === 'pending' || outcome.kind === 'unknown') {
        deps.counts?.countDebit(attempt.paymentChannelCode, outcome.kind);
      }
      return conclude(context, attempt, outcome);
    },

    async resume(context, subject) {
      const { channel, caller, database } = context;
      const attempt = await findFirstAttempt(database, Number(subject));
      if (!attempt) throw new Error(`order ${subject} was begun and has no attempt`);
      // Settled meanwhile, by the job or a notice: only the answer is still owed.
      if (attempt.status !== 'STARTED') return conclude(context, attempt, { kind: 'unknown' });
      const institutionNo = await institutionNoOf(database, channel, attempt.agreementId);
      const gateway = await gateways.of(attempt.paymentChannelCode);
      const request = debitRequest(attempt, channel, institutionNo, context.origin);
      const outcome = await caller.waitOutside(() => askDebit(gateway, request, deps.debitDeadlineMs));
      return conclude(context, attempt, await rejectWrongAmount(database, attempt, outcome));
    },
  };
}

function isNotBound(error: unknown): boolean {
  return error instanceof Rejection && error.result.name === 'AGREEMENT_NOT_BOUND';
}

function agreementColumns(agreement: AgreementForOrder) {
  return {
    mobile_hash: agreement.mobile?.hash ?? null,
    mobile: agreement.mobile?.sealed ?? null,
    payment_channel_code: agreement.paymentChannelCode,
    agreement: agreement.insert,
    exclusive_number: agreement.exclusiveNumber?.institutionHash.toString('hex') ?? null,
  };
}
