import type { Fields } from '@perennial/wire/bridge';
import { createFaultyServer } from '../shared/faulty-server.js';
import { addLocalRoutes } from '../shared/local-routes.js';
import {
  listen,
  openLockedJournal,
  type ReferenceProgram,
  type ReferenceProgramOptions,
  requireKeyLength,
} from '../shared/program.js';
import { createTimers } from '../shared/timers.js';
import { createSupplierFaults, readSupplierFaultRule } from './faults.js';
import { SupplierHandler } from './handler.js';
import { type SupplierEntry, SupplierLedger } from './ledger.js';
import { SUPPLIER_OPERATIONS } from './operations.js';

export const SUPPLIER_JOURNAL = 'codes.jsonl';

/** Of the fault `delay`, unless a control call says otherwise. */
const DEFAULT_ANSWER_MS = 15_000;

/** A supplier behind the protocol of docs/supplier.md. Its codes buy nothing, and it keeps a journal of all of them. */
export async function startSupplier(options: ReferenceProgramOptions): Promise<ReferenceProgram> {
  const { dataDir, key, clock, log } = options;
  requireKeyLength(key);
  const ledger = new SupplierLedger();
  const journal = await openLockedJournal(dataDir, SUPPLIER_JOURNAL, (entry) => ledger.apply(entry as SupplierEntry));

  let answerMs = DEFAULT_ANSWER_MS;
  const timers = createTimers();
  const handler = new SupplierHandler({ ledger, journal, clock });
  const faults = createSupplierFaults();
  const server = createFaultyServer({
    key,
    clock,
    operations: SUPPLIER_OPERATIONS,
    prepare: (operation, fields, idempotencyKey) => handler.prepare(operation, fields, idempotencyKey),
    takeFault: (occasion) => faults.take(occasion)?.fault,
    timers,
    answerMs: () => answerMs,
    log,
  });
  if (options.control === true) {
    const setAnswerMs = (ms: number) => {
      answerMs = ms;
    };
    addLocalRoutes(server, {
      journal,
      describeLedger: () => describeLedger(ledger),
      faults,
      readFaultRule: readSupplierFaultRule,
      control: async (fields) => control(fields, setAnswerMs),
    });
  }

  const stop = async (): Promise<void> => {
    timers.stop();
    await server.close();
    await journal.close();
  };
  return { url: await listen(server, options, stop), stop };
}

function control({ action, answerMs }: Fields, setAnswerMs: (ms: number) => void): object | string {
  if (action !== 'delay') return 'action must be set, clear or delay';
  if (!Number.isSafeInteger(answerMs) || Number(answerMs) < 0) return 'answerMs must be whole milliseconds';
  setAnswerMs(Number(answerMs));
  return { answerMs };
}

/** Everything that was handed out, what was refused, and how often each number came. */
function describeLedger({ handedOut, refused, arrivals }: SupplierLedger): object {
  return {
    handedOut: [...handedOut.values()].map((one) => ({ ...one, arrivals: arrivals.get(one.claimNo) ?? 0 })),
    refused: [...refused].map(([claimNo, reason]) => ({ claimNo, reason, arrivals: arrivals.get(claimNo) ?? 0 })),
  };
}
