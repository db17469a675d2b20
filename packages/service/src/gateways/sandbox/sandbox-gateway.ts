import { Rejection } from '@perennial/wire';
import type { Clock } from '../../platform/clock.js';
import { type DebitOutcome, type DebitQuery, type Gateway, NoticeRefused } from '../gateway.js';
import {
  BIND_CODE_TRIGGERS,
  BIND_CONFIRM_TRIGGERS,
  FIRST_DEBIT_TRIGGERS,
  findTestCard,
  findTriggeredOutcome,
  OPEN_RENEWAL_TRIGGERS,
  PENDING_MS,
  RIGHT_CODE,
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
  const decline = (kind: 'final' | 'retryable'): DebitOutcome => ({
    kind: 'declined',
    decline: kind,
    declineKind: kind === 'retryable' ? 'INSUFFICIENT_FUNDS' : 'OTHER',
    reason: 'declined by the sandbox',
  });
  const decideRenewalOutcome = ({
    externalOrderNo,
    startedAt: paidAt,
    amountCent,
    attemptNo,
  }: DebitQuery): DebitOutcome => {
    const isAhead = clock.now() < paidAt;
    if (isAhead && findTriggeredOutcome(OPEN_RENEWAL_TRIGGERS, externalOrderNo) === 'final') return decline('final');
    return { kind: 'success', paidAt, amountCent, institutionRef: `sandbox-${attemptNo}` };
  };
  const decideDebitOutcome = (debit: DebitQuery): DebitOutcome => {
    if (debit.cycleNo > 1) return decideRenewalOutcome(debit);
    const outcome = findTriggeredOutcome(FIRST_DEBIT_TRIGGERS, debit.externalOrderNo);
    switch (outcome) {
      case 'final':
      case 'retryable':
        return decline(outcome);
      case 'pending-declined': {
        const askAt = debit.startedAt + PENDING_MS;
        return clock.now() < askAt ? { kind: 'pending', askAt } : decline('final');
      }
      case 'pending':
        return succeedAt(debit, debit.startedAt + PENDING_MS);
      case 'success':
        return succeedAt(debit, debit.startedAt);
    }
  };
  return {
    async sendBindCode({ card }) {
      const reference = findTestCard(card.bankCardNo);
      if (reference === 'too-many-codes') throw new Rejection('SMS_TOO_FREQUENT');
      return findTriggeredOutcome(BIND_CODE_TRIGGERS, card.bankMobile) === 'sent'
        ? { kind: 'sent', reference }
        : { kind: 'not-sent', reason: 'the sandbox does not send to this number' };
    },
    async confirmBind({ bindOrderNo, smsCode, reference }) {
      if (findTriggeredOutcome(BIND_CONFIRM_TRIGGERS, smsCode) === 'refused') {
        return { kind: 'refused', reason: 'the institution refused the binding' };
      }
      if (reference === 'expired-code') throw new Rejection('SMS_CODE_EXPIRED');
      if (reference === 'silent-bank') return { kind: 'unknown' };
      return reference === 'one-right-code' && smsCode !== RIGHT_CODE
        ? { kind: 'wrong-code', reason: `the code is not right: it is ${RIGHT_CODE}` }
        : { kind: 'bound', institutionNo: `sandbox-${bindOrderNo}` };
    },
    debit: async (request) => decideDebitOutcome(request),
    queryDebit: async (request) => decideDebitOutcome(request),
    refund: async ({ refundNo, amountCent }) => ({
      kind: 'success',
      refundedAt: clock.now(),
      amountCent,
      institutionRef: `sandbox-${refundNo}`,
    }),
    queryRefund: async () => ({ kind: 'not-found' }),
    cancelAgreement: async () => ({ kind: 'canceled' }),
    verifyNotice() {
      throw new NoticeRefused('untrusted', 'the sandbox sends no notices');
    },
    async *statement() {},
  };
}
