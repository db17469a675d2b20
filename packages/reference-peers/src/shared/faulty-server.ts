import { createSignedServer, INTERNAL_ERROR, type Reply } from '@perennial/bridge-kit/server';
import { randomBytes } from '@perennial/wire';
import { type Fields, KEY_BYTES, MAX_STATEMENT_BYTES } from '@perennial/wire/bridge';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Clock } from './clock.js';
import type { Timers } from './timers.js';

/** A request that has been parsed: what decides about a fault, and what is done with or without one. */
export interface PreparedRequest<Occasion, Fault> {
  readonly occasion: Occasion;
  run(fault: Fault | undefined): Promise<object>;
  /** Records that the number arrived, for a request that fails before anything is done. */
  recordArrival(): Promise<void>;
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
  /** Of the fault `delay`: longer than any deadline of the service. */
  readonly answerMs: () => number;
  readonly log: Logger | undefined;
}

/** The signed side of a reference program: its operations, and the faults that happen to an answer on its way. */
export function createFaultyServer<Operation extends string, Occasion, Fault extends string>(
  options: FaultyServerOptions<Operation, Occasion, Fault>,
): FastifyInstance {
  const { key, clock, operations, prepare, takeFault, timers, answerMs, log } = options;
  return createSignedServer({
    key,
    clock,
    operations,
    onFault: (err) => log?.error({ err }, 'fault'),
    async handle({ operation, fields, idempotencyKey }) {
      const prepared = prepare(operation, fields, idempotencyKey);
      const fault = takeFault(prepared.occasion);
      if (fault === 'error-before') {
        await prepared.recordArrival();
        return { status: 500, text: INTERNAL_ERROR };
      }
      const result = await prepared.run(fault);
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
