import { alertText } from '../../../alerts/alert-wordings.js';
import { raiseAlert } from '../../../alerts/alerts-sql.js';
import type { Clock } from '../../../platform/clock.js';
import type { Database } from '../../../platform/db/database.js';
import type { KeyedHasher } from '../../../platform/secrets/keyed-hasher.js';
import { findAgreementByInstitutionNo } from '../../store/agreements/end-agreements-sql.js';
import { endAgreements, lockAgreementsWithOrders, unsubscribedByInstitution } from './end-agreements.js';

export interface AgreementEnderDeps {
  readonly database: Database;
  readonly institutionNumbers: KeyedHasher;
  readonly clock: Clock;
}

/**
 * The institution reports that an agreement has ended. Ends all agreements with the same institution number, and all
 * active orders on them. A repeated report changes nothing. If an order's first debit is in flight, the settlement of
 * that debit decides whether the order ends. Returns whether the agreement is known. An unknown one raises an alert,
 * unless `isKnownElsewhere`: then another cell has it, or raises the alert.
 */
export function createAgreementEnder({ database, institutionNumbers, clock }: AgreementEnderDeps) {
  return async (
    paymentChannelCode: string,
    institutionNo: string,
    reason: string,
    isKnownElsewhere = false,
  ): Promise<boolean> => {
    const hash = await institutionNumbers.hash(institutionNo);
    const known = await findAgreementByInstitutionNo(database, paymentChannelCode, hash);
    if (known === undefined) {
      if (isKnownElsewhere) return false;
      const detail = alertText('notice-for-unknown-agreement', paymentChannelCode);
      await raiseAlert(database, 'notice-for-unknown-agreement', hash.toString('hex').slice(0, 16), detail);
      return false;
    }
    await database.transaction(async (tx) => {
      const { orders, agreements } = await lockAgreementsWithOrders(tx, [known]);
      const agreementIds = agreements.map(({ agreementId }) => agreementId);
      const by = unsubscribedByInstitution(reason);
      await endAgreements(tx, { agreementIds, orders: orders.values(), by }, clock.now());
    });
    return true;
  };
}
