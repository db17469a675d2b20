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
  readonly endAgreement: (paymentChannelCode: string, institutionNo: string, reason: string) => Promise<void>;
}

/** Settles a notice of an institution like any other outcome. Receiving the same notice again changes nothing. */
export function createNoticeAcceptor({ database, settle, endAgreement }: NoticeAcceptorDeps) {
  return async (paymentChannelCode: string, notice: Notice): Promise<void> => {
    if (notice.kind === 'agreement-canceled') {
      return endAgreement(paymentChannelCode, notice.institutionNo, notice.reason);
    }
    const attempt = await findAttemptOfNotice(database, paymentChannelCode, notice.attemptNo);
    if (!attempt) {
      const detail = alertText('notice-for-unknown-attempt', paymentChannelCode);
      return raiseAlert(database, 'notice-for-unknown-attempt', notice.attemptNo.slice(0, 64), detail);
    }
    const outcome = await rejectWrongAmount(database, attempt, notice.outcome);
    if (outcome.kind === 'success' || outcome.kind === 'declined') {
      await settle({ attempt, outcome });
    } else {
      // The notice has a wrong amount or no final outcome, so the recovery job asks the institution at once.
      await scheduleDebitQuestion(database, attempt, 0);
    }
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
