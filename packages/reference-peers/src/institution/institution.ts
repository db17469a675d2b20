import { DEFAULT_CURRENCY, type Fields, fieldsOf, STATEMENT_PAGE_LINES } from '@perennial/wire/bridge';
import {
  addLocalRoutes,
  createTimers,
  listenOrStop,
  openPeerBook,
  type ReferenceProgram,
  type ReferenceProgramOptions,
} from '../peer.js';
import { createInstitutionFaults, type FaultRule, isFault } from './faults.js';
import { createInstitutionServer, type Delays, InstitutionHandler } from './handler.js';
import { Ledger } from './ledger.js';
import { createNoticeSender } from './notices.js';

const LEDGER_FILE = 'ledger.jsonl';

const DEFAULT_DELAYS: Delays = {
  settleMs: 30_000,
  answerMs: 15_000,
  lateNoticeMs: 2_000,
  noticeRetryMs: 1_000,
  longestNoticeRetryMs: 300_000,
};

export interface InstitutionOptions extends ReferenceProgramOptions {
  /** The URL for notices. If it is not set, the ledger keeps the notices until the institution starts with a URL. */
  readonly noticeUrl?: string;
  /** Fault rules that apply from the start, in addition to the table of card tails. */
  readonly faults?: readonly FaultRule[];
  readonly delays?: Partial<Delays>;
  readonly statementPageLines?: number;
  /** The currency of every amount. Default: CNY. */
  readonly currency?: string;
}

/** Starts a payment institution that speaks the protocol of docs/bridge.md. It moves no money and keeps a ledger. */
export async function startInstitution(options: InstitutionOptions): Promise<ReferenceProgram> {
  const { key, noticeUrl, clock, currency = DEFAULT_CURRENCY } = options;
  let delays = { ...DEFAULT_DELAYS, ...options.delays };
  const timers = createTimers();
  const currentDelays = () => delays;
  const sender =
    noticeUrl === undefined
      ? undefined
      : createNoticeSender({ url: noticeUrl, key, currency, clock, timers, pauses: currentDelays });

  const book = openPeerBook(options, LEDGER_FILE);
  const ledger = new Ledger(book);
  const pageLines = options.statementPageLines ?? STATEMENT_PAGE_LINES;
  const handler = new InstitutionHandler({ ledger, clock, timers, delays: currentDelays, sender, pageLines, currency });
  const faults = createInstitutionFaults(options.faults);
  const server = createInstitutionServer({ key, clock, handler, faults, timers, delays: currentDelays });

  function control(fields: Fields): object | undefined {
    switch (fields['action']) {
      case 'settle':
        return { settled: handler.settleDebit(String(fields['attemptNo'])) };
      case 'end-agreement':
        handler.endAgreement(String(fields['institutionNo']), 'ended by the customer');
        return { ended: fields['institutionNo'] };
      case 'delays':
        delays = { ...delays, ...fieldsOf(fields['delays']) };
        return { delays };
      default:
        return undefined;
    }
  }
  if (options.control === true) {
    addLocalRoutes(server, { describeLedger: () => describeLedger(ledger), faults, isFault, control });
  }

  const stop = async (): Promise<void> => {
    timers.stop();
    sender?.stop();
    await server.close();
    book.close();
  };
  const url = await listenOrStop(server, options, stop);
  handler.resume();
  return { url, stop };
}

/** The response of GET /ledger. */
export type LedgerView = ReturnType<typeof describeLedger>;

/** Returns the debits, the refunds, the ended agreements, the unsent notices, and how often each attempt arrived. */
function describeLedger({ debits, refunds, arrivals, canceled, owedNotices }: Ledger) {
  return {
    debits: [...debits.values()].map(({ appId = null, ref: institutionRef, takenAt: _, result, booked, ...debit }) => ({
      ...debit,
      appId,
      status: result.status,
      debitedCent: result.status === 'SUCCESS' ? result.amountCent : 0,
      bookedAt: booked.at,
      institutionRef,
      arrivals: arrivals.get(debit.attemptNo) ?? 0,
    })),
    refunds: [...refunds.values()].map(({ ref: institutionRef, result: { status }, booked, ...refund }) => ({
      ...refund,
      status,
      bookedAt: booked.at,
      institutionRef,
    })),
    arrivals: Object.fromEntries(arrivals),
    canceledAgreements: [...canceled.keys()],
    owedNotices: [...owedNotices.keys()],
  };
}
