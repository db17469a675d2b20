import { createChannelRegistry } from '../../catalog/channels/channel-registry.js';
import type { Queryable } from '../../platform/db/database.js';
import { endAgreements, lockAgreementsWithOrders } from '../../subscriptions/steps/ending/end-agreements.js';
import { unsealInstitutionNo } from '../../subscriptions/store/agreements/card.js';
import { recordAudit } from '../audit/audit.js';
import { inTransaction, type Operator, type OperatorWithClock, refusal } from '../operator.js';
import { createNotFound, requireName } from '../rules.js';
import { type AgreementView, findAgreement, requireSealedNumber } from './agreements-sql.js';

/** Returns an agreement with its number at the institution, decrypted. Records the reason in the audit log. */
export async function showAgreement(
  operator: Operator,
  { agreementNo, reason }: { readonly agreementNo: string; readonly reason: string },
) {
  const detail = { reason: requireName('the reason', reason) };
  return inTransaction(operator, async (tx) => {
    const agreement = await requireAgreement(tx, agreementNo);
    await recordAudit(tx, { actor: operator.actor, action: 'agreement.show', subject: agreementNo, detail });
    const { channelId, ...sealed } = await requireSealedNumber(tx, parseAgreementId(agreementNo));
    const channel = await createChannelRegistry(tx, operator.vault).getById(channelId);
    const institutionNo = sealed.institutionNo === null ? null : unsealInstitutionNo(channel, sealed);
    return { appId: channel.appId, ...agreement, institutionNo };
  });
}

/**
 * Cancels an agreement and all other agreements with the same institution number, and unsubscribes every active order
 * on them, in one transaction. Returns these orders as `unsubscribed`. The institution is notified in the background.
 */
export async function cancelAgreement(
  operator: OperatorWithClock,
  { agreementNo, reason }: { readonly agreementNo: string; readonly reason?: string },
) {
  const by = { source: 'OPERATIONS', reason: reason === undefined ? null : requireName('the reason', reason) } as const;
  return inTransaction(operator, async (tx) => {
    const agreementId = parseAgreementId(agreementNo);
    const { orders, agreements } = await lockAgreementsWithOrders(tx, [agreementId]);
    const agreement = await requireAgreement(tx, agreementNo);
    const wasCanceled = agreement.agreementStatus === 'CANCELED';
    if (!wasCanceled && agreement.agreementStatus !== 'BIND_SUCCESS') {
      throw refusal(
        'agreement-ended',
      )`agreement ${agreementNo} is ${agreement.agreementStatus}: there is nothing to cancel`;
    }
    // Takes only this agreement if it was already canceled: a newer agreement may use the same institution number.
    const agreementIds = wasCanceled ? [agreementId] : agreements.map((one) => one.agreementId);
    const running = [...orders.values()].filter((order) => agreementIds.includes(order.agreementId ?? 0));
    if (wasCanceled && running.length === 0) return { ...agreement, unsubscribed: [], changed: false };
    const waiting = running.find(({ status }) => status === 'INITIALIZING');
    if (waiting) {
      throw refusal(
        'agreement-in-first-debit',
      )`order ${waiting.orderNo} on agreement ${agreementNo} waits for the result of its first debit; try again later`;
    }
    const ending = { agreementIds, orders: running, by, tellBy: agreementId };
    const ended = await endAgreements(tx, ending, operator.clock.now());
    const unsubscribed = ended.map(({ orderNo }) => String(orderNo));
    const detail = { reason: by.reason, unsubscribed };
    await recordAudit(tx, { actor: operator.actor, action: 'agreement.cancel', subject: agreementNo, detail });
    return { ...(await requireAgreement(tx, agreementNo)), unsubscribed, changed: true };
  });
}

/** Returns the agreement's id. If the text is not an agreement number, returns 0, which no agreement has. */
function parseAgreementId(agreementNo: string): number {
  const [, digits] = /^AG([1-9][0-9]{0,14})$/.exec(agreementNo) ?? [];
  return Number(digits ?? 0);
}

async function requireAgreement(tx: Queryable, agreementNo: string): Promise<AgreementView> {
  const agreement = await findAgreement(tx, parseAgreementId(agreementNo));
  if (!agreement) throw createNotFound('agreement', agreementNo);
  return agreement;
}
