import path from 'node:path';
import { createSignedServer, INTERNAL_ERROR, listen, type Reply } from '@perennial/bridge-kit/server';
import { randomBytes } from '@perennial/wire';
import { type Fields, KEY_BYTES, MAX_STATEMENT_BYTES, readFields } from '@perennial/wire/bridge';
import type { FastifyInstance } from 'fastify';
import { type Book, openBook } from './book.js';
import type { FaultBook } from './fault-book.js';

/** The time in Unix milliseconds, injected so that tests can set it. */
export interface Clock {
  now(): number;
}

/** The options that all reference programs have. */
export interface ReferenceProgramOptions {
  /** The folder of the ledger. If undefined, the ledger is kept in memory. */
  readonly dataDir?: string;
  /** The port of the server. 0 selects any free port. */
  readonly port: number;
  readonly host?: string;
  /** The key shared with the service, 32 bytes. */
  readonly key: Uint8Array;
  readonly clock: Clock;
  /** True if the unsigned routes GET /ledger and POST /control are served. */
  readonly control?: boolean;
}

/** A running reference program. */
export interface ReferenceProgram {
  readonly url: string;
  /** Stops immediately and aborts requests in flight. */
  stop(): Promise<void>;
}

export function openPeerBook({ dataDir, key }: ReferenceProgramOptions, fileName: string): Book {
  if (key.length !== KEY_BYTES) throw new Error(`the key must have ${KEY_BYTES} bytes`);
  return openBook(dataDir === undefined ? undefined : path.join(dataDir, fileName));
}

/** Starts listening and returns the server's URL. Stops the program if it cannot listen. */
export async function listenOrStop(
  server: FastifyInstance,
  { host = '127.0.0.1', port }: ReferenceProgramOptions,
  stop: () => Promise<void>,
): Promise<string> {
  return listen(server, host, port).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
}

/** A parsed request: `occasion` decides which fault it gets, and `run` executes it with or without a fault. */
export interface PreparedRequest<Occasion, Fault> {
  readonly occasion: Occasion;
  run(fault: Fault | undefined): object;
  /** Records that the number has arrived, if a fault ends the request before `run` is called. */
  recordArrival?(): void;
}

export interface FaultyServerOptions<Operation extends string, Occasion, Fault extends string> {
  readonly key: Uint8Array;
  readonly clock: Clock;
  readonly operations: readonly Operation[];
  readonly prepare: (
    operation: Operation,
    fields: Fields,
    idempotencyKey: string | undefined,
  ) => PreparedRequest<Occasion, Fault>;
  readonly takeFault: (occasion: Occasion) => Fault | undefined;
  readonly timers: Timers;
  /** The delay of the fault `delay`: longer than any timeout of the service. */
  readonly answerMs: () => number;
}

/** Creates the signed server of a reference program, which answers with faults on demand. */
export function createFaultyServer<Operation extends string, Occasion, Fault extends string>(
  options: FaultyServerOptions<Operation, Occasion, Fault>,
): FastifyInstance {
  const { key, clock, operations, prepare, takeFault, timers, answerMs } = options;
  return createSignedServer({
    key,
    clock,
    operations,
    onFault: (error) => process.emitWarning(error instanceof Error ? error : String(error)),
    async handle({ operation, fields, idempotencyKey }) {
      const prepared = prepare(operation, fields, idempotencyKey);
      const fault = takeFault(prepared.occasion);
      if (fault === 'error-before') {
        prepared.recordArrival?.();
        return { status: 500, text: INTERNAL_ERROR };
      }
      const result = prepared.run(fault);
      if (fault === 'delay') await new Promise<void>((resolve) => timers.after(answerMs(), resolve));
      return toReply(result, fault);
    },
  });
}

function toReply(result: object, fault: string | undefined): Reply {
  switch (fault) {
    case 'answer-lost':
      return 'hang-up';
    case 'error-after':
      return { status: 500, text: INTERNAL_ERROR };
    case 'forged-answer':
      return { status: 200, text: JSON.stringify(result), key: randomBytes(KEY_BYTES) };
    case 'garbage-answer':
      return { status: 200, text: '<html>It works!</html>' };
    case 'oversized-answer':
      return { status: 200, text: JSON.stringify({ ...result, padding: ' '.repeat(MAX_STATEMENT_BYTES) }) };
    default:
      return { status: 200, text: JSON.stringify(result) };
  }
}

export interface LocalRoutes<Rule> {
  /** Returns everything that the program has done so far. */
  readonly describeLedger: () => object;
  readonly faults: Pick<FaultBook<Rule, never>, 'set' | 'clear'>;
  readonly isFault: (name: unknown) => boolean;
  /** Handles control calls whose action is neither `set` nor `clear`. Returns undefined for an unknown action. */
  readonly control: (fields: Fields) => object | undefined;
}

/** Adds the unsigned routes GET /ledger and POST /control. */
export function addLocalRoutes<Rule>(app: FastifyInstance, routes: LocalRoutes<Rule>): void {
  const { describeLedger, faults, isFault, control } = routes;
  const run = ({ action, ...fields }: Fields): object | undefined => {
    if (action === 'clear') {
      faults.clear();
      return { cleared: true };
    }
    if (action !== 'set') return control({ action, ...fields });
    if (!isFault(fields['fault'])) return undefined;
    faults.set(fields as Rule);
    return { set: fields };
  };
  app.get('/ledger', async () => describeLedger());
  app.post('/control', async (request, reply) => {
    const fields = Buffer.isBuffer(request.body) ? readFields(request.body) : undefined;
    const done = run(fields ?? {});
    return done ?? reply.code(400).send({ error: 'there is no such action, or no such fault' });
  });
}

/** Timers that can be stopped together. */
export interface Timers {
  after(ms: number, act: () => void): void;
  stop(): void;
}

/** The longest delay that a timer of Node can have. With a longer delay, a timer fires at once. */
const MAX_TIMER_MS = 2_147_483_647;

export function createTimers(): Timers {
  const timers = new Set<NodeJS.Timeout>();
  let stopped = false;
  return {
    after(ms, act) {
      if (stopped) return;
      const timer = setTimeout(
        () => {
          timers.delete(timer);
          act();
        },
        Math.min(Math.max(ms, 0), MAX_TIMER_MS),
      );
      timers.add(timer);
    },
    stop() {
      stopped = true;
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
    },
  };
}
