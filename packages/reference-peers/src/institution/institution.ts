import { DEFAULT_CURRENCY, STATEMENT_PAGE_LINES } from '@perennial/wire/bridge';
import {
  listen,
  openLockedJournal,
  type ReferenceProgram,
  type ReferenceProgramOptions,
  requireKeyLength,
} from '../shared/program.js';
import { createTimers } from '../shared/timers.js';
import { addControlRoutes } from './control.js';
import { createInstitutionFaults, type FaultRule } from './faults.js';
import { type Delays, InstitutionHandler } from './handler.js';
import { type JournalEntry, Ledger } from './ledger.js';
import { createNoticeSender } from './notices.js';
import { createInstitutionServer } from './server.js';

export const JOURNAL_FILE = 'journal.jsonl';

const DEFAULT_DELAYS: Delays = {
  settleMs: 30_000,
  answerMs: 15_000,
  lateNoticeMs: 2_000,
  noticeRetryMs: 1_000,
  longestNoticeRetryMs: 300_000,
};

export interface InstitutionOptions extends ReferenceProgramOptions {
  /** Where notices go. Without it they are owed until a start that has one. */
  readonly noticeUrl?: string;
  /** Beside the table of card tails. */
  readonly faults?: readonly FaultRule[];
  readonly delays?: Partial<Delays>;
  readonly statementPageLines?: number;
  /** Of every amount. Unset: CNY. */
  readonly currency?: string;
}

/** A payment institution behind the protocol of docs/bridge.md. It moves no money, and keeps a journal of all that it does. */
export async function startInstitution(options: InstitutionOptions): Promise<ReferenceProgram> {
  const { dataDir, key, noticeUrl, clock, log, currency = DEFAULT_CURRENCY } = options;
  requireKeyLength(key);
  let delays = { ...DEFAULT_DELAYS, ...options.delays };
  const timers = createTimers();
  const currentDelays = () => delays;
  const sender =
    noticeUrl === undefined
      ? undefined
      : createNoticeSender({ url: noticeUrl, key, currency, clock, timers, pauses: currentDelays, log });

  const ledger = new Ledger();
  const journal = await openLockedJournal(dataDir, JOURNAL_FILE, (entry) => ledger.apply(entry as JournalEntry));

  const pageLines = options.statementPageLines ?? STATEMENT_PAGE_LINES;
  const handler = new InstitutionHandler({
    ...{ ledger, journal, clock, timers, delays: currentDelays, sender, pageLines, currency },
  });
  const faults = createInstitutionFaults(options.faults);
  const server = createInstitutionServer({ key, clock, handler, faults, timers, delays: currentDelays, log });
  if (options.control === true) {
    const setDelays = (changed: Partial<Delays>): Delays => {
      delays = { ...delays, ...changed };
      return delays;
    };
    addControlRoutes(server, { handler, ledger, journal, faults, setDelays });
  }

  const stop = async (): Promise<void> => {
    timers.stop();
    await server.close();
    await sender?.stop();
    await journal.close();
  };
  const url = await listen(server, options, stop);
  handler.resume();
  return { url, stop };
}
