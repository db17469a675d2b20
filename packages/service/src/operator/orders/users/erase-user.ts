import { randomBytes } from 'node:crypto';
import { DEBITABLE_ORDER_STATUSES } from '../../../subscriptions/domain/orders/order-states.js';
import { formatAgreementNo, sealMaskedCard } from '../../../subscriptions/store/agreements/card.js';
import { recordAudit } from '../../audit/audit.js';
import { sealOfErasedTexts } from '../../audit/seals-sql.js';
import { BusyError, inTransaction, type Operator, refusal } from '../../operator.js';
import { requireName } from '../../rules.js';
import {
  createNoSuchUser,
  hashUser,
  MAX_ORDERS_OF_USER,
  requireChannelOf,
  requireFewOrders,
  type UserInput,
  userSubject,
} from './find-user.js';
import {
  deleteReceiversAnswers,
  deleteRunTexts,
  deleteTexts,
  deleteUser,
  eraseAgreements,
  eraseAuditTexts,
  findErasedUser,
  findOpenMoney,
  forgetRequests,
  hasRowsOfUser,
  insertErasedUser,
  listAuditTexts,
  listOrderNosOfUser,
  lockAgreementsOfUser,
  lockErasure,
  lockOrdersOfUser,
  lockUser,
  renameEvents,
  renameExternalOrders,
  renameInAnswers,
  renameInBulkFilters,
  renameOrders,
} from './user-data-sql.js';

export type EraseInput = UserInput & { readonly reason: string };

/**
 * Erases a user's personal data and keeps orders, periods and amounts under a pseudonym. One transaction does all of
 * it, so after a crash the erasure is complete or not begun, and can be repeated. Throws if an order, a binding, a
 * debit or a refund of the user is still open.
 */
export async function eraseUser(operator: Operator, input: EraseInput) {
  const { appId, channelUserId } = input;
  const reason = requireName('the reason', input.reason);
  const channel = await requireChannelOf(operator, appId);
  const { channelId } = channel;
  const hash = hashUser(channel, channelUserId);
  const userHash = hash.toString('hex');
  return inTransaction(operator, async (tx) => {
    await tx.setStatementLimit(0);
    await lockErasure(tx, userHash);
    if (!(await hasRowsOfUser(tx, channelId, channelUserId))) {
      const erasedAt = await findErasedUser(tx, channelId, hash);
      if (erasedAt === undefined) throw createNoSuchUser(input);
      return { appId, userHash, erasedAt, orders: 0, agreements: 0, auditTextsKept: 0, changed: false };
    }
    await lockUser(tx, channelId, channelUserId);
    const orderNos = await listOrderNosOfUser(tx, channelId, channelUserId, MAX_ORDERS_OF_USER);
    requireFewOrders(input, orderNos);
    requireEndedOrders(await lockOrdersOfUser(tx, orderNos));
    const agreements = await lockAgreementsOfUser(tx, channelId, channelUserId);
    requireEndedAgreements(agreements);
    requireNothingOpen(await findOpenMoney(tx, orderNos));

    // Random, so it does not lead back to the user.
    const pseudonym = `erased-${randomBytes(16).toString('hex')}`;
    await renameOrders(tx, orderNos, pseudonym);
    await renameExternalOrders(tx, channelId, channelUserId, pseudonym);
    const agreementIds = agreements.map(({ agreementId }) => agreementId);
    const masked = agreementIds.map((agreementId) => sealMaskedCard(channel, agreementId));
    await eraseAgreements(tx, agreementIds, masked, pseudonym);
    await deleteUser(tx, channelId, channelUserId);
    await renameEvents(tx, orderNos, pseudonym);
    await renameInAnswers(tx, channelId, toIdField(channelUserId), toIdField(pseudonym));
    await renameInBulkFilters(tx, appId, channelUserId, pseudonym);
    await forgetRequests(tx, appId, channelUserId);
    for (const erase of [...deleteReceiversAnswers, ...deleteTexts]) await erase(tx, orderNos);
    const runIds = await deleteRunTexts(tx, orderNos);
    // Throws if the channel has stored rows of the user after the orders were listed.
    if (await hasRowsOfUser(tx, channelId, channelUserId)) {
      throw refusal('busy-records', BusyError)`a request of this user is in progress; nothing was changed, try again`;
    }
    const subject = userSubject(hash);
    const runs = runIds.map((runId) => `run-${runId}`);
    const subjects = [...orderNos.map(String), ...agreementIds.map(formatAgreementNo), ...runs, subject];
    const auditTexts = await listAuditTexts(tx, orderNos, subjects);
    const erasable = auditTexts.filter(({ isChained }) => !isChained);
    const seals: Buffer[] = [];
    for (const one of erasable) seals.push(tx.sign ? await sealOfErasedTexts(tx.sign, one) : Buffer.alloc(0));
    const auditIds = erasable.map(({ auditId }) => auditId);
    await eraseAuditTexts(tx, auditIds, seals);
    const erasedAt = await insertErasedUser(tx, channelId, hash);
    const auditTextsKept = auditTexts.length - erasable.length;
    const counts = { orders: orderNos.length, agreements: agreementIds.length, auditTextsKept };
    const detail = { appId, ...counts, auditTextsErased: erasable.length, reason };
    await recordAudit(tx, { actor: operator.actor, action: 'user.erase', subject, detail });
    return { appId, userHash, erasedAt, ...counts, changed: true };
  });
}

/** Returns the id as it is written in stored answers, which are JSON without spaces. */
const toIdField = (channelUserId: string) => `"channelUserId":${JSON.stringify(channelUserId)}`;

function requireEndedOrders(orders: Awaited<ReturnType<typeof lockOrdersOfUser>>): void {
  const running = orders.find(({ status }) => DEBITABLE_ORDER_STATUSES.includes(status));
  if (!running) return;
  throw refusal(
    'user-has-order',
  )`order ${running.orderNo} of this user is ${running.status}: end it before the erasure`;
}

function requireEndedAgreements(agreements: Awaited<ReturnType<typeof lockAgreementsOfUser>>): void {
  for (const { agreementId, source, status, isBeingCanceled, isRecent } of agreements) {
    const agreementNo = formatAgreementNo(agreementId);
    if (source === 'SELF_BINDING' && status === 'BIND_SUCCESS') {
      throw refusal(
        'user-has-agreement',
      )`agreement ${agreementNo} of this user is in force: cancel it before the erasure`;
    }
    if (isBeingCanceled) {
      throw refusal(
        'user-agreement-being-canceled',
      )`agreement ${agreementNo} of this user is being canceled at its institution; try again later`;
    }
    if (status === 'BIND_ING' && isRecent) {
      throw refusal(
        'user-agreement-being-bound',
      )`agreement ${agreementNo} of this user is being bound; try again later`;
    }
  }
}

function requireNothingOpen(period: string | undefined): void {
  if (period === undefined) return;
  throw refusal(
    'user-has-open-money',
  )`a debit or a refund of period ${period} of this user has no result yet; try again later`;
}
