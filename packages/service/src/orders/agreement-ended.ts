import { cancelInvalidAgreement } from '../agreements/cancel-sql.js';
import { findActiveOrders, findByInstitutionNo } from '../agreements/ended-sql.js';
import type { ChannelRegistry } from '../channels/registry.js';
import type { Clock } from '../clock.js';
import type { Database } from '../db/database.js';
import { raiseAlert } from '../payments/alerts-sql.js';
import type { LookUp } from '../secrets/look-up.js';
import { endOrder } from './end.js';
import { lockOrderByNumber } from './sql.js';

export interface AgreementEndedDeps {
  readonly database: Database;
  readonly channels: ChannelRegistry;
  readonly institutionNumbers: LookUp;
  readonly clock: Clock;
}

/**
 * The institution says that an agreement is gone: it is canceled here, and every active order on it is unsubscribed, each in
 * a transaction of its own. Told again, it finds nothing left to do. An order whose first debit is on the way is left to
 * that debit's result.
 */
export function agreementEnder({ database, channels, institutionNumbers, clock }: AgreementEndedDeps) {
  return async (paymentChannelCode: string, institutionNo: string, reason: string): Promise<void> => {
    const hash = await institutionNumbers.hash(institutionNo);
    const agreements = await findByInstitutionNo(database, paymentChannelCode, hash);
    if (agreements.length === 0) {
      return raiseAlert(
        database,
        'notice-for-unknown-agreement',
        hash.toString('hex').slice(0, 16),
        `from ${paymentChannelCode}`,
      );
    }
    for (const { agreementId, channelId } of agreements) {
      const channel = await channels.byId(channelId);
      await database.transaction((tx) => cancelInvalidAgreement(tx, agreementId));
      for (const orderNo of await findActiveOrders(database, agreementId)) {
        await database.transaction(async (tx) => {
          const order = await lockOrderByNumber(tx, orderNo);
          if (order?.status !== 'ACTIVE' || order.agreementId !== agreementId) return;
          await endOrder(
            tx,
            channel,
            order,
            { source: 'AGREEMENT_INVALID', reason: reason.slice(0, 1024) },
            clock.now(),
          );
        });
      }
    }
  };
}
