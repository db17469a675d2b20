import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import type { ServiceDeps } from '../../src/service.js';
import type { ChannelClient } from '../support/channel-client.js';
import { unique } from '../support/demo.js';
import { anotherNode, type Node } from '../support/second-node.js';
import { type Stage, stage, toldAbout } from './support.js';

/** What all tests of a file share: made before the first of them, closed after the last. */
export function ofFile<T extends { close(): Promise<unknown> }>(make: () => Promise<T>): T {
  let made: T;
  beforeAll(async () => {
    made = await make();
  });
  afterAll(() => made.close());
  return later(() => made);
}

/** Stands for an object that is there once a test runs. */
export const later = <T extends object>(made: () => T): T =>
  new Proxy({} as T, {
    get: (_, name) => Reflect.get(made(), name),
    set: (_, name, value) => Reflect.set(made(), name, value),
  });

/** A stage for a file, and what its tests do on it. Before each test the institution forgets what it was told. */
export function stageOfFile(more: Partial<ServiceDeps> = {}) {
  const on: Stage = ofFile(() => stage(more));
  beforeEach(() => on.institution.reset());
  const service = later(() => on.service);
  const channel = later(() => on.channel);
  return {
    on,
    service,
    channel,
    sql: <Row>(text: string, values: readonly unknown[] = []) => service.fresh.database.query<Row>(text, values),
    /** The answer to an orders/create that succeeds. */
    create: async (body: object, by: ChannelClient = channel) => {
      const reply = await by.call('orders/create', body);
      expect(reply.code, reply.text).toBe('0');
      return reply.data;
    },
    found: async (orderNo: string) => (await channel.call('orders/query', { orderNo })).data,
    told: (orderNo: string) => toldAbout(service.fresh.database, orderNo),
  };
}

/** A.1: an order on a binding. */
export const boundRequest = (bindOrderNo: string, more: object = {}) => ({
  settlementMode: 'SVC_DEDUCT',
  externalOrderNo: unique('order'),
  productCode: 'TEST_SPU_001',
  bindOrderNo,
  ...more,
});

/** One more node on the stage of a file, with the same institution. */
export const nodeOfFile = (on: Stage): Node =>
  ofFile(() => anotherNode(on.service, { gateways: { of: async () => on.institution } }));
