import { type Fields, fieldsOf, MAX_TEXT_LENGTH, numberOf, textOf } from '@perennial/wire/bridge';
import type { FastifyInstance } from 'fastify';
import type { Journal } from '../shared/journal.js';
import { localRoutes } from '../shared/local-routes.js';
import type { Delays, Desk } from './desk.js';
import { type FaultBook, readFaultRule } from './faults.js';
import type { Ledger } from './ledger.js';

export interface ControlOptions {
  readonly desk: Desk;
  readonly ledger: Ledger;
  readonly journal: Journal;
  readonly faults: FaultBook;
  readonly setDelays: (changed: Partial<Delays>) => Delays;
}

const DELAYS = ['settleMs', 'answerMs', 'lateNoticeMs', 'noticeRetryMs', 'longestNoticeRetryMs'] as const;

/** The unsigned side, for tests and people at the machine itself. */
export function controlRoutes(app: FastifyInstance, options: ControlOptions): void {
  const { ledger, journal } = options;
  localRoutes(app, {
    async ledger() {
      const view = ledgerView(ledger);
      // What is shown is on the disk.
      await journal.synced();
      return view;
    },
    control: (fields) => control(fields, options),
  });
}

/** What was done, or what is wrong with the call. */
async function control(fields: Fields, { desk, faults, setDelays }: ControlOptions): Promise<object | string> {
  switch (fields['action']) {
    case 'set': {
      const rule = readFaultRule(fields);
      if (typeof rule === 'string') return rule;
      faults.set(rule);
      return { set: rule };
    }
    case 'clear':
      faults.clear();
      return { cleared: true };
    case 'settle': {
      const attemptNo = numberOf(fields['attemptNo']);
      if (attemptNo === undefined) return 'attemptNo is needed';
      return { settled: await desk.settleDebit(attemptNo) };
    }
    case 'end-agreement': {
      const institutionNo = textOf(fields['institutionNo'], MAX_TEXT_LENGTH);
      if (institutionNo === undefined) return 'institutionNo is needed';
      await desk.endAgreement(institutionNo, 'ended by the customer');
      return { ended: institutionNo };
    }
    case 'delays': {
      const given = fieldsOf(fields['delays']) ?? {};
      const wrong = Object.entries(given).find(
        ([name, value]) => !DELAYS.some((one) => one === name) || !Number.isSafeInteger(value) || Number(value) < 0,
      );
      if (wrong !== undefined) return `delays are whole milliseconds by name: ${DELAYS.join(', ')}`;
      return { delays: setDelays(given) };
    }
    default:
      return 'action must be set, clear, settle, end-agreement or delays';
  }
}

/** Everything that was debited and refunded, and how often each attempt number came. */
function ledgerView({ debits, refunds, arrivals, canceled, owedNotices }: Ledger): object {
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
