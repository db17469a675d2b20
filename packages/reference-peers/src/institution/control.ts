import { type Fields, fieldsOf, MAX_TEXT_LENGTH, numberOf, textOf } from '@perennial/wire/bridge';
import type { FastifyInstance } from 'fastify';
import type { Journal } from '../shared/journal.js';
import { addLocalRoutes } from '../shared/local-routes.js';
import { type InstitutionFaults, readFaultRule } from './faults.js';
import type { Delays, InstitutionHandler } from './handler.js';
import type { Ledger } from './ledger.js';

export interface ControlOptions {
  readonly handler: InstitutionHandler;
  readonly ledger: Ledger;
  readonly journal: Journal;
  readonly faults: InstitutionFaults;
  readonly setDelays: (changed: Partial<Delays>) => Delays;
}

const DELAY_NAMES = ['settleMs', 'answerMs', 'lateNoticeMs', 'noticeRetryMs', 'longestNoticeRetryMs'] as const;

export function addControlRoutes(app: FastifyInstance, options: ControlOptions): void {
  const { ledger, journal, faults } = options;
  addLocalRoutes(app, {
    journal,
    describeLedger: () => describeLedger(ledger),
    faults,
    readFaultRule,
    control: (fields) => control(fields, options),
  });
}

async function control(fields: Fields, { handler, setDelays }: ControlOptions): Promise<object | string> {
  switch (fields['action']) {
    case 'settle': {
      const attemptNo = numberOf(fields['attemptNo']);
      if (attemptNo === undefined) return 'attemptNo is needed';
      return { settled: await handler.settleDebit(attemptNo) };
    }
    case 'end-agreement': {
      const institutionNo = textOf(fields['institutionNo'], MAX_TEXT_LENGTH);
      if (institutionNo === undefined) return 'institutionNo is needed';
      await handler.endAgreement(institutionNo, 'ended by the customer');
      return { ended: institutionNo };
    }
    case 'delays': {
      const given = fieldsOf(fields['delays']) ?? {};
      const wrong = Object.entries(given).find(
        ([name, value]) =>
          !DELAY_NAMES.some((one) => one === name) || !Number.isSafeInteger(value) || Number(value) < 0,
      );
      if (wrong !== undefined) return `delays are whole milliseconds by name: ${DELAY_NAMES.join(', ')}`;
      return { delays: setDelays(given) };
    }
    default:
      return 'action must be set, clear, settle, end-agreement or delays';
  }
}

/** Everything that was debited and refunded, and how often each attempt number came. */
function describeLedger({ debits, refunds, arrivals, canceled, owedNotices }: Ledger): object {
  return {
    debits: [...debits.values()].map((debit) => ({
      attemptNo: debit.attemptNo,
      institutionNo: debit.institutionNo,
      appId: debit.appId ?? null,
      askedCent: debit.askedCent,
      status: debit.result.status,
      debitedCent: debit.result.status === 'SUCCESS' ? debit.result.amountCent : 0,
      refundedCent: debit.refundedCent,
      bookedAt: debit.booked.at,
      institutionRef: debit.ref,
      arrivals: arrivals.get(debit.attemptNo) ?? 0,
    })),
    refunds: [...refunds.values()].map(({ refundNo, attemptNo, amountCent, ref, result, booked }) => ({
      refundNo,
      attemptNo,
      amountCent,
      status: result.status,
      bookedAt: booked.at,
      institutionRef: ref,
    })),
    arrivals: Object.fromEntries(arrivals),
    canceledAgreements: [...canceled],
    owedNotices: [...owedNotices.keys()],
  };
}
