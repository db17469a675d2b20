import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import type { ServiceDeps } from '../../src/service.js';
import type { ChannelClient } from '../support/channel-client.js';
import { demoChannel, unique } from '../support/demo.js';
import { anotherNode, type Node } from '../support/second-node.js';
import { type TestService, testService } from '../support/service.js';
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

/** The same for each test of a file. */
export function ofEachTest<T extends { close(): Promise<unknown> }>(make: () => Promise<T>): T {
  let made: T;
  beforeEach(async () => {
    made = await make();
  });
  afterEach(() => made.close());
  return later(() => made);
}

/** Stands for an object that is there once a test runs. */
export const later = <T extends object>(made: () => T): T =>
  new Proxy({} as T, {
    get: (_, name) => Reflect.get(made(), name),
    set: (_, name, value) => Reflect.set(made(), name, value),
  });

/** A service for a file, and a channel of it. */
export function serviceOfFile(
  more: Partial<ServiceDeps> = {},
  channelOf: (service: TestService) => Promise<ChannelClient> = (service) => service.channel(),
  hold: typeof ofFile = ofFile,
) {
  let channel: ChannelClient;
  const service = hold(async () => {
    const made = await testService(more);
    channel = await channelOf(made);
    return made;
  });
  return { service, channel: later(() => channel) };
}

/** The same for each test, with the demo channel. */
export const demoOfEachTest = () => serviceOfFile({}, demoChannel, ofEachTest);

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

/** One more node of the service of a file. */
export const anotherNodeOfFile = (service: TestService, more: Partial<ServiceDeps> = {}): Node =>
  ofFile(() => anotherNode(service, more));

/** The same on a stage, with its institution. */
export const nodeOfFile = (on: Stage): Node =>
  anotherNodeOfFile(
    later(() => on.service),
    { gateways: { of: async () => on.institution } },
  );
