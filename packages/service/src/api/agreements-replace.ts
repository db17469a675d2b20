import { Rejection, type ReplaceRequest, type RetriedPayment } from '@perennial/wire';
import type { Action } from '../catalog/action.js';
import type { Queryable } from '../platform/db/database.js';
import { requireShareablePaymentChannel } from '../subscriptions/domain/agreements/choose-payment-channel.js';
import type { Order, Payment } from '../subscriptions/domain/orders/order.js';
import { unstartedRuns } from '../subscriptions/domain/orders/order-description.js';
import { formatPaymentOrderNo } from '../subscriptions/domain/orders/order-numbers.js';
import { requireNotEnded } from '../subscriptions/domain/orders/order-states.js';
import { isLongAnswer } from '../subscriptions/domain/orders/order-text.js';
import type { AffectedRun, ReplaceDescription } from '../subscriptions/domain/orders/replacement-text.js';
import { isWaitingForRetry, OPEN_STATUSES } from '../subscriptions/domain/payments/payment-states.js';
import { alertNumberOfAnotherChannel } from '../subscriptions/steps/agreements/alert-number-of-another-channel.js';
import {
  createSharedAgreementRow,
  NumberOfAnotherChannel,
  readSharedAgreement,
} from '../subscriptions/steps/agreements/shared-agreement.js';
import { readOrderReference } from '../subscriptions/steps/orders/order-reference.js';
import { insertAgreement, takeAgreementId } from '../subscriptions/store/agreements/agreements-sql.js';
import { lockNumberAndCheckShareable } from '../subscriptions/store/agreements/same-number-sql.js';
import { switchAgreement } from '../subscriptions/store/agreements/switch-agreement-sql.js';
import { findPayments, lockOrderOfChannel } from '../subscriptions/store/orders/orders-sql.js';
import { startRenewals } from '../subscriptions/store/orders/start-renewals-sql.js';
import type { ApiDeps } from './api-deps.js';

export type ReplaceDeps = Pick<ApiDeps, 'catalog' | 'institutionNumbers' | 'clock' | 'log'>;

/** agreements/replace. Commits all its changes in one transaction before the answer. Sends no event. */
export function createReplaceAction(deps: ReplaceDeps): Action<ReplaceRequest, ReplaceDescription> {
  const { catalog, institutionNumbers, clock, log } = deps;
  return async (context, request) => {
    const { channel, database, once, answer, place } = context;
    const { shared, card } = readSharedAgreement(context, request.newSharedAgreement, 'newSharedAgreement');
    const reference = readOrderReference(request);
    const authorized = await catalog.paymentChannels(channel);
    const agreementId = await takeAgreementId(database);
    const institutionHash = await institutionNumbers.hash(shared.sharedAgreementNo);
    const number = { paymentChannelCode: shared.paymentChannelCode, institutionHash };
    const replace = async (tx: Queryable) => {
      const order = requireReplaceableOrder(
        await lockOrderOfChannel(tx, channel.channelId, reference),
        shared.channelUserId,
      );
      if (isLongAnswer(order.totalCycles)) place.reserve();
      const { paymentChannelCode } = shared;
      const { commonNumbers } = requireShareablePaymentChannel(
        authorized,
        paymentChannelCode,
        'PAYMENT_CHANNEL_NOT_ALLOWED',
      );
      if (!commonNumbers && !(await lockNumberAndCheckShareable(tx, channel.channelId, number))) {
        throw new NumberOfAnotherChannel();
      }
      const now = clock.now();
      const payments = await findPayments(tx, order.orderNo);
      const row = createSharedAgreementRow(channel, shared, card, { agreementId, now });
      await insertAgreement(tx, { ...row, institutionHash });
      const { orderNo } = order;
      const retryBySchedule = request.retryFailedNow === false;
      const retryAt = isWaitingForRetry(order.latestPaymentStatus) && !retryBySchedule ? now : null;
      const ids = { orderNo, oldAgreementId: order.agreementId, newAgreementId: agreementId };
      const to = { ...ids, paymentChannelCode, retryAt, retryBySchedule };
      const oldAgreementNo = await switchAgreement(tx, to);
      const retriedNow = retryAt === null ? [] : await retryFailedPeriod(tx, orderNo, paymentChannelCode, retryAt);
      return once.finish(
        tx,
        answer({
          head: {
            orderNo: String(orderNo),
            oldAgreementNo,
            newAgreementNo: row.agreementNo ?? '',
            paymentChannelCode,
            retriedNow,
          },
          affected: findAffectedRuns(order, payments),
        }),
      );
    };
    try {
      return await database.transaction(replace);
    } catch (error) {
      if (error instanceof NumberOfAnotherChannel) await alertNumberOfAnotherChannel(log, context, number);
      throw error;
    }
  };
}

/**
 * Stores an attempt about which the recovery job asks the institution at once. The institution does not know the
 * attempt, so the job sends it.
 */
async function retryFailedPeriod(
  tx: Queryable,
  orderNo: number,
  paymentChannelCode: string,
  at: number,
): Promise<RetriedPayment[]> {
  const { renewals } = await startRenewals(tx, paymentChannelCode, { kind: 'one-order', at, orderNo }, 1, 0);
  return renewals.map(({ cycleNo }) => ({
    paymentOrderNo: formatPaymentOrderNo(orderNo, cycleNo),
    cycleNo,
    newStatus: 'PROCESSING',
  }));
}

type ReplaceableOrder = Order & { readonly agreementId: number };

function requireReplaceableOrder(order: Order | undefined, channelUserId: string): ReplaceableOrder {
  if (!order) throw new Rejection('SUBSCRIPTION_NOT_FOUND');
  // This check comes before the check of the user id, because only orders with a shared agreement need the user id.
  if (!order.shared || order.agreementId === null) throw new Rejection('AGREEMENT_REPLACE_NOT_ALLOWED');
  if (channelUserId !== order.channelUserId) {
    throw new Rejection('PARAM_INVALID', "newSharedAgreement.channelUserId must equal the order's");
  }
  requireNotEnded(order.status);
  return { ...order, agreementId: order.agreementId };
}

function findAffectedRuns(order: Order, started: readonly Payment[]): AffectedRun[] {
  const open = started.filter((payment) => OPEN_STATUSES.includes(payment.status));
  return [
    ...open.map(({ cycleNo, status }): AffectedRun => [cycleNo, cycleNo, status]),
    ...unstartedRuns(order).map(([from, to, status]): AffectedRun => [from, to, status]),
  ];
}
