import type { AddressInfo } from 'node:net';
import {
  createInstitutionServer,
  type FaultName,
  type FaultOccasion,
  InstitutionHandler,
  Ledger,
  type Timers,
} from '@perennial/reference-peers';
import { type NoticeMessage, signedHeaders } from '@perennial/wire/bridge';
import { type BridgeGateway, createBridgeGateway } from '../../src/gateways/bridge/bridge-gateway.js';
import type { Clock } from '../../src/platform/clock.js';

const KEY = Buffer.alloc(32, 7);
const MINUTE_MS = 60_000;
/**
 * The institution's delays, by the simulated clock of the history (the sequence of steps under test). A pending debit
 * or refund gets its result after settleMs, unless a step settles it earlier.
 */
const DELAYS = { settleMs: 40 * MINUTE_MS, answerMs: 0, lateNoticeMs: 0, noticeRetryMs: 0, longestNoticeRetryMs: 0 };

/**
 * The reference institution in this process, over HTTP. Its ledger can be read, its timers use the history's time, and
 * each step sets its faults. It stores nothing on disk, because it never crashes here, and sends no notices, because
 * notices are separate steps.
 */
export interface Bank {
  readonly ledger: Ledger;
  readonly handler: InstitutionHandler;
  readonly gateway: BridgeGateway;
  /** Runs everything that is due at the institution by now. */
  runAgenda(): void;
  signed(path: string, notice: NoticeMessage): { headers: Readonly<Record<string, string>>; body: Buffer };
  close(): Promise<void>;
}

export async function openBank(clock: Clock, fault: (occasion: FaultOccasion) => FaultName | undefined): Promise<Bank> {
  let waiting: { readonly at: number; readonly act: () => void }[] = [];
  const timers: Timers = {
    after: (ms, act) => waiting.push({ at: clock.now() + ms, act }),
    stop: () => undefined,
  };
  const ledger = new Ledger();
  const delays = () => DELAYS;
  const handler = new InstitutionHandler({
    ledger,
    clock,
    timers,
    delays,
    sender: undefined,
    pageLines: 1000,
    currency: 'CNY',
  });
  const server = createInstitutionServer({ key: KEY, clock, handler, faults: { take: fault }, timers, delays });
  await server.listen({ host: '127.0.0.1', port: 0 });
  const { port } = server.server.address() as AddressInfo;
  const gateway = createBridgeGateway({ url: `http://127.0.0.1:${port}`, key: KEY, clock });
  return {
    ledger,
    handler,
    gateway,
    runAgenda() {
      const due = waiting.filter(({ at }) => at <= clock.now());
      waiting = waiting.filter(({ at }) => at > clock.now());
      for (const { act } of due) act();
    },
    signed(path, notice) {
      const body = Buffer.from(JSON.stringify(notice));
      return { body, headers: signedHeaders({ path, body, now: clock.now(), requestId: notice.noticeNo }, KEY) };
    },
    async close() {
      await gateway.close();
      await server.close();
    },
  };
}
