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
 * An institution that charges nobody and sends no text messages. It stores nothing either: the outcome of a debit follows
 * from the attempt itself, so that a pending debit succeeds after 30 seconds even if the service restarts meanwhile.
 */
export function createSandboxGateway(clock: Clock): Gateway {
  const decideDebitOutcome = (debit: DebitQuery): DebitOutcome => {
    const outcome = debit.cycleNo === 1 ? findTriggeredOutcome(FIRST_DEBIT_TRIGGERS, debit.externalOrderNo) : 'success';
    if (outcome === 'final' || outcome === 'retryable') {
      return { kind: 'declined', decline: outcome, reason: 'declined by the sandbox' };
    }
    const paidAt = debit.startedAt + (outcome === 'pending' ? PENDING_MS : 0);
    if (clock.now() < paidAt) return { kind: 'pending', askAt: paidAt };
    return { kind: 'success', paidAt, amountCent: debit.amountCent, institutionRef: `sandbox-${debit.attemptNo}` };
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
