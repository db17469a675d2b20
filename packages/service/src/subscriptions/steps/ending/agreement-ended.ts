import { raiseAlert } from '../../../platform/alerts/alerts-sql.js';
import type { Clock } from '../../../platform/clock.js';
import type { Database } from '../../../platform/db/database.js';
import type { KeyedHasher } from '../../../platform/secrets/keyed-hasher.js';
import { findByInstitutionNo } from '../../store/agreements/ended-sql.js';
import { endAgreements, holdAgreements, saidByInstitution } from './end-agreements.js';

export interface AgreementEndedDeps {
  readonly database: Database;
  readonly institutionNumbers: KeyedHasher;
  readonly clock: Clock;
}

/**
 * The institution says that an agreement is gone: every row of its number ends here, with every active order on them. Told
 * again, it finds nothing left to do. An order whose first debit is on the way is left to that debit's result.
 */
export function agreementEnder({ database, institutionNumbers, clock }: AgreementEndedDeps) {
  return async (paymentChannelCode: string, institutionNo: string, reason: string): Promise<void> => {
    const hash = await institutionNumbers.hash(institutionNo);
    const known = await findByInstitutionNo(database, paymentChannelCode, hash);
    if (known === undefined) {
      return raiseAlert(
        database,
        'notice-for-unknown-agreement',
        hash.toString('hex').slice(0, 16),
        `from ${paymentChannelCode}`,
      );
    }
    await database.transaction(async (tx) => {
      const { orders, agreements } = await holdAgreements(tx, [known]);
      const agreementIds = agreements.map(({ agreementId }) => agreementId);
      const by = saidByInstitution(reason);
      await endAgreements(tx, { agreementIds, orders: orders.values(), by }, clock.now());
    });
  };
}
