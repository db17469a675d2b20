import { Rejection, type ReplaceRequest, type RetriedPayment } from '@perennial/wire';
import type { Logger } from 'pino';
import type { Action } from '../catalog/action.js';
import type { Catalog } from '../catalog/products/catalog.js';
import type { Clock } from '../platform/clock.js';
import type { Queryable } from '../platform/db/database.js';
import type { KeyedHasher } from '../platform/secrets/keyed-hasher.js';
import { requireShareable } from '../subscriptions/domain/agreements/payment-channel.js';
import { derivedRuns } from '../subscriptions/domain/orders/description.js';
import { paymentOrderNo } from '../subscriptions/domain/orders/numbers.js';
import type { Order, Payment } from '../subscriptions/domain/orders/order.js';
import { alertForeignNumber } from '../subscriptions/steps/agreements/foreign-number.js';
import type { AffectedRun, ReplaceDescription } from '../subscriptions/steps/agreements/replace-text.js';
import { mayShareNumber } from '../subscriptions/store/agreements/number-sql.js';
import { switchAgreement } from '../subscriptions/store/agreements/replace-sql.js';
import {
  NumberOfAnotherChannel,
  readSharedCard,
  sharedAgreementRow,
} from '../subscriptions/store/agreements/shared.js';
import { insertAgreement, nextAgreementId } from '../subscriptions/store/agreements/sql.js';
import { orderReference } from '../subscriptions/store/orders/reference.js';
import { startRenewals } from '../subscriptions/store/orders/renew-sql.js';
import { findPayments, lockOrder } from '../subscriptions/store/orders/sql.js';
import { isLong } from '../subscriptions/store/orders/text.js';

export interface ReplaceDeps {
  readonly catalog: Catalog;
  readonly institutionNumbers: KeyedHasher;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Everything takes effect in one transaction before the answer; no event tells of it. */
export function replaceAgreement(deps: ReplaceDeps): Action<ReplaceRequest, ReplaceDescription> {
  const { catalog, institutionNumbers, clock, log } = deps;
  return async (context, request) => {
    const { channel, database, once, answer, place } = context;
    const shared = request.newSharedAgreement;
    const card = readSharedCard(channel, shared, 'newSharedAgreement');
    const reference = orderReference(request);
    const authorized = await catalog.paymentChannels(channel);
    const agreementId = await nextAgreementId(database);
    const institutionHash = await institutionNumbers.hash(shared.sharedAgreementNo);
    const number = { paymentChannelCode: shared.paymentChannelCode, institutionHash };
    const replace = async (tx: Queryable) => {
      const order = requireReplaceable(await lockOrder(tx, channel.channelId, reference), shared.channelUserId);
      if (isLong(order.totalCycles)) place.reserve();
      const { paymentChannelCode } = shared;
      const { commonNumbers } = requireShareable(authorized, paymentChannelCode, 'PAYMENT_CHANNEL_NOT_ALLOWED');
      if (!commonNumbers && !(await mayShareNumber(tx, channel.channelId, number))) {
        throw new NumberOfAnotherChannel();
      }
      const now = clock.now();
      const payments = await findPayments(tx, order.orderNo);
      const row = sharedAgreementRow(channel, shared, card, { agreementId, now });
      await insertAgreement(tx, { ...row, institutionHash });
      const { orderNo } = order;
      const retryBySchedule = request.retryFailedNow === false;
      const retryAt = order.latestPaymentStatus === 'FAIL_RETRY' && !retryBySchedule ? now : null;
      const ids = { orderNo, fromId: order.agreementId, toId: agreementId };
      const to = { ...ids, paymentChannelCode, retryAt, retryBySchedule };
      const oldAgreementNo = await switchAgreement(tx, to);
      const retriedNow = retryAt === null ? [] : await retry(tx, orderNo, paymentChannelCode, retryAt);
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
          affected: affected(order, payments),
        }),
      );
    };
    try {
      return await database.transaction(replace);
    } catch (error) {
      if (error instanceof NumberOfAnotherChannel) await alertForeignNumber(log, context, number);
      throw error;
    }
  };
}

/** Written down as a debit that is to be asked about at once: whichever node does so finds it unsent, and sends it. */
async function retry(
  tx: Queryable,
  orderNo: number,
  paymentChannelCode: string,
  at: number,
): Promise<RetriedPayment[]> {
  const { renewals } = await startRenewals(tx, paymentChannelCode, { kind: 'one-order', at, orderNo }, 1, 0);
  return renewals.map(({ cycleNo }) => ({
    paymentOrderNo: paymentOrderNo(orderNo, cycleNo),
    cycleNo,
    newStatus: 'PROCESSING',
  }));
}

type Replaceable = Order & { readonly agreementId: number };

function requireReplaceable(order: Order | undefined, channelUserId: string): Replaceable {
  if (!order) throw new Rejection('SUBSCRIPTION_NOT_FOUND');
  // An order that no shared agreement can belong to has nothing that the user could be compared for.
  if (!order.shared || order.agreementId === null) throw new Rejection('AGREEMENT_REPLACE_NOT_ALLOWED');
  if (channelUserId !== order.channelUserId) {
    throw new Rejection('PARAM_INVALID', "newSharedAgreement.channelUserId is not the order's");
  }
  if (order.status === 'UNSUBSCRIBED' || order.status === 'TERMINATED')
    throw new Rejection('SUBSCRIPTION_UNSUBSCRIBED');
  if (order.status === 'COMPLETED') throw new Rejection('SUBSCRIPTION_ALREADY_COMPLETED');
  return { ...order, agreementId: order.agreementId };
}

const SWITCHES: readonly Payment['status'][] = ['WAIT', 'PROCESSING', 'FAIL_RETRY'];

function affected(order: Order, started: readonly Payment[]): AffectedRun[] {
  const open = started.filter((payment) => SWITCHES.includes(payment.status));
  return [
    ...open.map(({ cycleNo, status }): AffectedRun => [cycleNo, cycleNo, status]),
    ...derivedRuns(order).map(([from, to, status]): AffectedRun => [from, to, status]),
  ];
}
