import { mkdir } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { KEY_BYTES, STATEMENT_PAGE_LINES } from '@perennial/wire/bridge';
import type { Logger } from 'pino';
import { createAgenda } from '../shared/agenda.js';
import type { Clock } from '../shared/clock.js';
import { openJournal } from '../shared/journal.js';
import { lockFolder } from '../shared/lock.js';
import { PeerError } from '../shared/peer-error.js';
import { controlRoutes } from './control.js';
import { type Delays, Desk } from './desk.js';
import { type FaultRule, faultBook } from './faults.js';
import { type Entry, Ledger } from './ledger.js';
import { noticeSender } from './notices.js';
import { institutionServer } from './server.js';

export const JOURNAL_FILE = 'journal.jsonl';

const DELAYS: Delays = {
  settleMs: 30_000,
  answerMs: 15_000,
  lateNoticeMs: 2_000,
  noticeRetryMs: 1_000,
  longestNoticeRetryMs: 300_000,
};

export interface InstitutionOptions {
  /** Holds the journal. One institution at a time. */
  readonly dataDir: string;
  /** 0: any that is free. */
  readonly port: number;
  readonly host?: string;
  /** Shared with the service, 32 bytes. */
  readonly key: Uint8Array;
  /** Where notices go. Without it they are owed until a start that has one. */
  readonly noticeUrl?: string;
  readonly clock: Clock;
  /** Beside the table of card tails. */
  readonly faults?: readonly FaultRule[];
  readonly delays?: Partial<Delays>;
  /** GET /ledger and POST /control, from this machine alone. */
  readonly control?: boolean;
  readonly statementPageLines?: number;
  readonly log?: Logger;
}

export interface Institution {
  readonly url: string;
  /** Breaks off what is under way; the journal has everything that was answered. */
  stop(): Promise<void>;
}

/** A payment institution of its own behind the protocol of docs/bridge.md. It moves no money, and remembers all of it. */
export async function startInstitution(options: InstitutionOptions): Promise<Institution> {
  const { dataDir, port, host = '127.0.0.1', key, noticeUrl, clock, log } = options;
  if (key.length !== KEY_BYTES) throw new PeerError(`the key must have ${KEY_BYTES} bytes`);
  let delays = { ...DELAYS, ...options.delays };
  const agenda = createAgenda();
  const currentDelays = () => delays;
  const sender =
    noticeUrl === undefined
      ? undefined
      : noticeSender({ url: noticeUrl, key, clock, agenda, pauses: currentDelays, log });

  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const unlock = await lockFolder(dataDir);
  const ledger = new Ledger();
  const journal = await openJournal(path.join(dataDir, JOURNAL_FILE), (entry) => ledger.apply(entry as Entry)).catch(
    async (error: unknown) => {
      await unlock();
      throw error;
    },
  );

  const pageLines = options.statementPageLines ?? STATEMENT_PAGE_LINES;
  const desk = new Desk({ ledger, journal, clock, agenda, delays: currentDelays, sender, pageLines });
  const faults = faultBook(options.faults);
  const server = institutionServer({ key, clock, desk, faults, agenda, delays: currentDelays, log });
  if (options.control === true) {
    const setDelays = (changed: Partial<Delays>): Delays => {
      delays = { ...delays, ...changed };
      return delays;
    };
    controlRoutes(server, { desk, ledger, journal, faults, setDelays });
  }

  const stop = async (): Promise<void> => {
    agenda.stop();
    await server.close();
    await sender?.stop();
    await journal.close();
    await unlock();
  };
  try {
    await server.listen({ host, port });
  } catch (error) {
    await stop();
    throw error;
  }
  desk.resume();
  const { port: taken } = server.server.address() as AddressInfo;
  return { url: `http://${host.includes(':') ? `[${host}]` : host}:${taken}`, stop };
}
