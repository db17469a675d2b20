import { cancelUnusedAgreement } from '../agreements/cancel-sql.js';
import { eventSettings } from '../channels/sql.js';
import type { Queryable } from '../db/database.js';
import { endOrder } from '../orders/end.js';
import type { Order } from '../orders/order.js';
import { lockOrderByNumber } from '../orders/sql.js';
import { type AgreementView, findAgreement, findRunningOrders } from './agreements-sql.js';
import { recordAudit } from './audit.js';
import { type Changed, inTransaction, OperatorError, type OperatorWithClock } from './operator.js';
import { quoted, requireName } from './rules.js';

export interface CancelAgreementInput {
  readonly agreementNo: string;
  readonly reason?: string;
}

export interface CanceledAgreement extends AgreementView {
  /** The orders that were unsubscribed with it. */
  readonly unsubscribed: readonly string[];
}

/**
 * Ends an agreement and every active order on it, all together or not at all. The institution is told in the background, as
 * after an unsubscribe.
 */
export async function cancelAgreement(
  operator: OperatorWithClock,
  { agreementNo, reason }: CancelAgreementInput,
): Promise<Changed<CanceledAgreement>> {
  const by = { source: 'OPERATIONS', reason: reason === undefined ? null : requireName('the reason', reason) } as const;
  return inTransaction(operator, async (tx) => {
    const { agreementId, ...agreement } = await agreementOf(tx, agreementNo);
    const wasCanceled = agreement.agreementStatus === 'CANCELED';
    if (!wasCanceled && agreement.agreementStatus !== 'BIND_SUCCESS') {
      throw new OperatorError(`agreement ${agreementNo} is ${agreement.agreementStatus}: nothing runs on it`);
    }
    const running = await lockRunningOrders(tx, agreementId);
    // The number of one that is canceled may be in use again, as another agreement.
    const orders = wasCanceled ? running.filter((order) => order.agreementId === agreementId) : running;
    if (wasCanceled && orders.length === 0) return { ...agreement, unsubscribed: [], changed: false };
    const waiting = orders.find(({ status }) => status === 'INITIALIZING');
    if (waiting) {
      throw new OperatorError(
        `order ${waiting.orderNo} on agreement ${agreementNo} waits for its first debit; try again when that is known`,
      );
    }
    for (const order of orders) {
      await endOrder(tx, await eventSettings(tx, order.channelId), order, by, operator.clock.now());
    }
    await cancelUnusedAgreement(tx, agreementId, { exceptOrderNo: 0, forEverybody: true });
    const { agreementId: _, ...canceled } = await agreementOf(tx, agreementNo);
    if (canceled.agreementStatus !== 'CANCELED') {
      throw new OperatorError(`an order was just made on agreement ${agreementNo}; nothing was changed, try again`);
    }
    const unsubscribed = orders.map(({ orderNo }) => String(orderNo));
    const detail = { reason: by.reason, unsubscribed };
    await recordAudit(tx, { actor: operator.actor, action: 'agreement.cancel', subject: agreementNo, detail });
    return { ...canceled, unsubscribed, changed: true };
  });
}

async function agreementOf(tx: Queryable, agreementNo: string) {
  const [, digits] = /^AG([1-9][0-9]{0,14})$/.exec(agreementNo) ?? [];
  const agreement = digits === undefined ? undefined : await findAgreement(tx, Number(digits));
  if (!agreement) throw new OperatorError(`there is no agreement ${quoted(agreementNo)}`);
  return agreement;
}

/**
 * All of them before the first is ended: ending one locks the agreement, and whoever holds another of the orders may be
 * waiting for just that.
 */
async function lockRunningOrders(tx: Queryable, agreementId: number): Promise<Order[]> {
  const locked: Order[] = [];
  for (const { orderNo, agreementId: on } of await findRunningOrders(tx, agreementId)) {
    const order = await lockOrderByNumber(tx, orderNo);
    const runs = order?.status === 'ACTIVE' || order?.status === 'INITIALIZING';
    if (order && runs && order.agreementId === on) locked.push(order);
  }
  return locked;
}
