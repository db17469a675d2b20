import type { Notice } from '../gateways/gateway.js';
import { raiseAlert } from '../platform/alerts/alerts-sql.js';
import type { Database } from '../platform/db/database.js';
import { parseAttemptNo } from '../subscriptions/domain/orders/numbers.js';
import { rejectWrongAmount } from '../subscriptions/steps/payments/debit.js';
import type { SettleTogether } from '../subscriptions/steps/payments/settle-together.js';
import { type Attempt, askAgainIn, findAttempt } from '../subscriptions/store/payments/attempts-sql.js';

export interface NoticeDeps {
  readonly database: Database;
  readonly settle: SettleTogether;
  readonly endAgreement: (paymentChannelCode: string, institutionNo: string, reason: string) => Promise<void>;
}

/** News from an institution: the same way through `settle` as everything else, and the same however often it comes. */
export function noticeAcceptor({ database, settle, endAgreement }: NoticeDeps) {
  return async (paymentChannelCode: string, notice: Notice): Promise<void> => {
    if (notice.kind === 'agreement-canceled') {
      return endAgreement(paymentChannelCode, notice.institutionNo, notice.reason);
    }
    const attempt = await attemptOf(database, paymentChannelCode, notice.attemptNo);
    if (!attempt) {
      const detail = `from ${paymentChannelCode}`;
      return raiseAlert(database, 'notice-for-unknown-attempt', notice.attemptNo.slice(0, 64), detail);
    }
    const outcome = await rejectWrongAmount(database, attempt, notice.outcome);
    if (outcome.kind === 'success' || outcome.kind === 'declined') {
      await settle({ attempt, outcome });
    } else {
      // It says less than was hoped for: the institution is asked right away.
      await askAgainIn(database, attempt, 0);
    }
  };
}

async function attemptOf(database: Database, paymentChannelCode: string, number: string): Promise<Attempt | undefined> {
  const reference = parseAttemptNo(number);
  const attempt = reference && (await findAttempt(database, reference));
  return attempt?.paymentChannelCode === paymentChannelCode ? attempt : undefined;
}
