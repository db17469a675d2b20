import type { Clock } from '../../platform/clock.js';
import { type DebitOutcome, type DebitQuery, type Gateway, NoticeRefused } from '../gateway.js';
import {
  BIND_CODE_TRIGGERS,
  BIND_CONFIRM_TRIGGERS,
  FIRST_DEBIT_TRIGGERS,
  findTriggeredOutcome,
  PENDING_MS,
} from './triggers.js';

/**
 * Creates the gateway of a simulated institution, which charges nobody and sends no text messages. It stores nothing:
 * it derives the outcome of a debit from the attempt. So a pending debit succeeds after 30 seconds even if the service
 * restarts in that time.
 */
export function createSandboxGateway(clock: Clock): Gateway {
  const succeedAt = ({ amountCent, attemptNo }: DebitQuery, paidAt: number): DebitOutcome =>
    clock.now() < paidAt
      ? { kind: 'pending', askAt: paidAt }
      : { kind: 'success', paidAt, amountCent, institutionRef: `sandbox-${attemptNo}` };
  const decideDebitOutcome = (debit: DebitQuery): DebitOutcome => {
    const outcome = debit.cycleNo === 1 ? findTriggeredOutcome(FIRST_DEBIT_TRIGGERS, debit.externalOrderNo) : 'success';
    switch (outcome) {
      case 'final':
      case 'retryable':
        return { kind: 'declined', decline: outcome, reason: 'declined by the sandbox' };
      case 'pending':
        return succeedAt(debit, debit.startedAt + PENDING_MS);
      case 'success':
        return succeedAt(debit, debit.startedAt);
    }
  };
  return {
    async sendBindCode({ card }) {
      return findTriggeredOutcome(BIND_CODE_TRIGGERS, card.bankMobile) === 'sent'
        ? { kind: 'sent', reference: undefined }
        : { kind: 'not-sent', reason: 'the sandbox does not send to this number' };
    },
    async confirmBind({ bindOrderNo, smsCode }) {
      return findTriggeredOutcome(BIND_CONFIRM_TRIGGERS, smsCode) === 'bound'
        ? { kind: 'bound', institutionNo: `sandbox-${bindOrderNo}` }
        : { kind: 'refused', reason: 'the code is not right' };
    },
    debit: async (request) => decideDebitOutcome(request),
    queryDebit: async (request) => decideDebitOutcome(request),
    refund: async ({ amountCent }) => ({ kind: 'success', refundedAt: clock.now(), amountCent }),
    queryRefund: async () => ({ kind: 'not-found' }),
    cancelAgreement: async () => ({ kind: 'canceled' }),
    verifyNotice() {
      throw new NoticeRefused('untrusted', 'the sandbox sends no notices');
    },
    async *statement() {},
  };
}
