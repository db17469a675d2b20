import { alertText } from '../alerts/alert-wordings.js';
import { raiseAlert } from '../alerts/alerts-sql.js';
import type { Notice } from '../gateways/gateway.js';
import type { Database } from '../platform/db/database.js';
import { parseAttemptNo } from '../subscriptions/domain/orders/order-numbers.js';
import type { SettleInBatch } from '../subscriptions/steps/payments/batch-settler.js';
import { rejectWrongAmount } from '../subscriptions/steps/payments/send-debit.js';
import { type Attempt, findAttempt, scheduleDebitQuestion } from '../subscriptions/store/payments/attempts-sql.js';

export interface NoticeAcceptorDeps {
  readonly database: Database;
  readonly settle: SettleInBatch;
  readonly endAgreement: (
    paymentChannelCode: string,
    institutionNo: string,
    reason: string,
    isKnownElsewhere?: boolean,
  ) => Promise<boolean>;
}

/**
 * Settles a notice of an institution like any other outcome. Receiving the same notice again changes nothing. Returns
 * whether the notice is about something known. If it is not, an alert is raised, unless `isKnownElsewhere`.
 */
export function createNoticeAcceptor({ database, settle, endAgreement }: NoticeAcceptorDeps) {
  return async (paymentChannelCode: string, notice: Notice, isKnownElsewhere = false): Promise<boolean> => {
    if (notice.kind === 'agreement-canceled') {
      return endAgreement(paymentChannelCode, notice.institutionNo, notice.reason, isKnownElsewhere);
    }
    const attempt = await findAttemptOfNotice(database, paymentChannelCode, notice.attemptNo);
    if (!attempt) {
      const detail = alertText('notice-for-unknown-attempt', paymentChannelCode);
      await raiseAlert(database, 'notice-for-unknown-attempt', notice.attemptNo.slice(0, 64), detail);
      return false;
    }
    const outcome = await rejectWrongAmount(database, attempt, notice.outcome);
    if (outcome.kind === 'success' || outcome.kind === 'declined') {
      await settle({ attempt, outcome });
    } else {
      // The notice has a wrong amount or no final outcome, so the recovery job asks the institution at once.
      await scheduleDebitQuestion(database, attempt, 0);
    }
    return true;
  };
}

async function findAttemptOfNotice(
  database: Database,
  paymentChannelCode: string,
  number: string,
): Promise<Attempt | undefined> {
  const reference = parseAttemptNo(number);
  const attempt = reference && (await findAttempt(database, reference));
  return attempt?.paymentChannelCode === paymentChannelCode ? attempt : undefined;
}
