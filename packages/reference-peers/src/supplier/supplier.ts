import { mkdir } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { type Fields, KEY_BYTES } from '@perennial/wire/bridge';
import type { Logger } from 'pino';
import { createAgenda } from '../shared/agenda.js';
import type { Clock } from '../shared/clock.js';
import { openJournal } from '../shared/journal.js';
import { localRoutes } from '../shared/local-routes.js';
import { lockFolder } from '../shared/lock.js';
import { PeerError } from '../shared/peer-error.js';
import { signedServer } from '../shared/signed-server.js';
import { Counter } from './counter.js';
import { readSupplierFaultRule, type SupplierFaultBook, supplierFaultBook } from './faults.js';
import { type SupplierEntry, SupplierLedger } from './ledger.js';
import { SUPPLIER_OPERATIONS } from './operations.js';

export const SUPPLIER_JOURNAL = 'codes.jsonl';

/** Of the fault `delay`, unless a control call says otherwise. */
const ANSWER_MS = 15_000;

export interface SupplierProgramOptions {
  /** Holds the journal. One supplier at a time. */
  readonly dataDir: string;
  /** 0: any that is free. */
  readonly port: number;
  readonly host?: string;
  /** Shared with the service, 32 bytes. */
  readonly key: Uint8Array;
  readonly clock: Clock;
  /** GET /ledger and POST /control, from this machine alone. */
  readonly control?: boolean;
  readonly log?: Logger;
}

export interface SupplierProgram {
  readonly url: string;
  /** Breaks off what is under way; the journal has everything that was answered. */
  stop(): Promise<void>;
}

/** A supplier of its own behind the protocol of docs/supplier.md. Its codes buy nothing, and it remembers all of them. */
export async function startSupplier(options: SupplierProgramOptions): Promise<SupplierProgram> {
  const { dataDir, port, host = '127.0.0.1', key, clock, log } = options;
  if (key.length !== KEY_BYTES) throw new PeerError(`the key must have ${KEY_BYTES} bytes`);
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const unlock = await lockFolder(dataDir);
  const ledger = new SupplierLedger();
  const journal = await openJournal(path.join(dataDir, SUPPLIER_JOURNAL), (entry) =>
    ledger.apply(entry as SupplierEntry),
  ).catch(async (error: unknown) => {
    await unlock();
    throw error;
  });

  let answerMs = ANSWER_MS;
  const agenda = createAgenda();
  const counter = new Counter({ ledger, journal, clock });
  const faults = supplierFaultBook();
  const server = signedServer({
    key,
    clock,
    operations: SUPPLIER_OPERATIONS,
    prepare: (operation, fields, idempotencyKey) => counter.prepare(operation, fields, idempotencyKey),
    takeFault: (occasion) => faults.take(occasion),
    agenda,
    answerMs: () => answerMs,
    log,
  });
  if (options.control === true) {
    const setAnswerMs = (ms: number) => {
      answerMs = ms;
    };
    localRoutes(server, {
      async ledger() {
        const view = ledgerView(ledger);
        // What is shown is on the disk.
        await journal.synced();
        return view;
      },
      control: async (fields) => control(fields, faults, setAnswerMs),
    });
  }

  const stop = async (): Promise<void> => {
    agenda.stop();
    await server.close();
    await journal.close();
    await unlock();
  };
  try {
    await server.listen({ host, port });
  } catch (error) {
    await stop();
    throw error;
  }
  const { port: taken } = server.server.address() as AddressInfo;
  return { url: `http://${host.includes(':') ? `[${host}]` : host}:${taken}`, stop };
}

/** What was done, or what is wrong with the call. */
function control(fields: Fields, faults: SupplierFaultBook, setAnswerMs: (ms: number) => void): object | string {
  const { answerMs } = fields;
  switch (fields['action']) {
    case 'set': {
      const rule = readSupplierFaultRule(fields);
      if (typeof rule === 'string') return rule;
      faults.set(rule);
      return { set: rule };
    }
    case 'clear':
      faults.clear();
      return { cleared: true };
    case 'delay':
      if (!Number.isSafeInteger(answerMs) || Number(answerMs) < 0) return 'answerMs must be whole milliseconds';
      setAnswerMs(Number(answerMs));
      return { answerMs };
    default:
      return 'action must be set, clear or delay';
  }
}

/** Everything that was handed out, what was refused, and how often each number came. */
function ledgerView({ handedOut, refused, arrivals }: SupplierLedger): object {
  return {
    handedOut: [...handedOut.values()].map((one) => ({ ...one, arrivals: arrivals.get(one.claimNo) ?? 0 })),
    refused: [...refused].map(([claimNo, reason]) => ({ claimNo, reason, arrivals: arrivals.get(claimNo) ?? 0 })),
  };
}
