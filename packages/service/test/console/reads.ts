import { randomUUID } from 'node:crypto';
import { createChannelRegistry } from '../../src/catalog/channels/channel-registry.js';
import { FileAnswer, type Operation } from '../../src/console/operation.js';
import { orderListOperations } from '../../src/console/operations/order-lists.js';
import { overviewOperations } from '../../src/console/operations/overview.js';
import { createFiguresJob } from '../../src/engine/jobs/figures.js';
import type { Role } from '../../src/operator/people/roles.js';
import { type RefundStage, refundStage } from '../refunds/support.js';

export type Answer = Record<string, unknown>;

/** A service whose clock is right, and the console's reads about orders as somebody of a role asks for them. */
export interface ReadStage extends RefundStage {
  ask<T = Answer>(path: string, query?: Record<string, string>, role?: Role): Promise<T>;
  /** The text of an answer that is a file. */
  download(path: string, query?: Record<string, string>, role?: Role): Promise<string>;
  sql<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** A turn of the job that counts, a minute after the last. */
  count(): Promise<number>;
}

const OPERATIONS: readonly Operation[] = [...overviewOperations, ...orderListOperations];

export async function readStage(): Promise<ReadStage> {
  const on = await refundStage();
  const { service, operator } = on;
  const { database } = service.fresh;
  service.clock.set(Date.now());
  const channels = createChannelRegistry(database, service.vault);
  const run = (path: string, query: Record<string, string>, role: Role) => {
    const operation = OPERATIONS.find((one) => one.method === 'GET' && one.path === path);
    if (!operation) throw new Error(`there is no GET ${path}`);
    const person = { name: 'ann', role, sessionId: randomUUID(), personId: 1 };
    const context = { operator, channels, person, requestId: 'test' };
    return operation.run(context as never, { path: {}, query: query as never, body: {} as never });
  };
  return {
    ...on,
    ask: async <T>(path: string, query: Record<string, string> = {}, role: Role = 'support') =>
      (await run(path, query, role)) as T,
    async download(path, query = {}, role = 'support') {
      const answer = await run(path, query, role);
      if (!(answer instanceof FileAnswer)) throw new Error(`GET ${path} is no file`);
      let text = '';
      for await (const piece of answer.pieces) text += piece;
      return text;
    },
    sql: (text, values = []) => database.query(text, values),
    count() {
      service.clock.advance(60_000);
      return createFiguresJob({ database, clock: service.clock })();
    },
  };
}
