import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import type { ServiceDeps } from '../../src/service.js';
import type { ChannelClient } from '../support/channel-client.js';
import { demoChannel, unique } from '../support/demo.js';
import { anotherNode, type Node } from '../support/second-node.js';
import { type TestService, testService } from '../support/service.js';
import { type Stage, stage, toldAbout } from './support.js';

/** Creates a resource before the first test of a file, and closes it after the last. */
export function ofFile<T extends { close(): Promise<unknown> }>(make: () => Promise<T>): T {
  let made: T;
  beforeAll(async () => {
    made = await make();
  });
  afterAll(() => made.close());
  return later(() => made);
}

/** Creates a resource for each test of a file. */
export function ofEachTest<T extends { close(): Promise<unknown> }>(make: () => Promise<T>): T {
  let made: T;
  beforeEach(async () => {
    made = await make();
  });
  afterEach(() => made.close());
  return later(() => made);
}

/** Returns a proxy for an object that is created only when the tests run. */
export const later = <T extends object>(made: () => T): T =>
  new Proxy({} as T, {
    get: (_, name) => Reflect.get(made(), name),
    set: (_, name, value) => Reflect.set(made(), name, value),
  });

/** Creates a service for a file, with one of its channels. */
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

/** Creates a service for each test, with the demo channel. */
export const demoOfEachTest = () => serviceOfFile({}, demoChannel, ofEachTest);

/**
 * Creates a test service with a fake institution (a stage) for a file, with helpers for its tests. Resets the
 * institution before each test.
 */
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
    /** Returns the answer to an orders/create that succeeds. */
    create: async (body: object, by: ChannelClient = channel) => {
      const reply = await by.call('orders/create', body);
      expect(reply.code, reply.text).toBe('0');
      return reply.data;
    },
    found: async (orderNo: string) => (await channel.call('orders/query', { orderNo })).data,
    told: (orderNo: string) => toldAbout(service.fresh.database, orderNo),
  };
}

/** Returns an A.1 request: an order on a binding. */
export const boundRequest = (bindOrderNo: string, more: object = {}) => ({
  settlementMode: 'SVC_DEDUCT',
  externalOrderNo: unique('order'),
  productCode: 'TEST_SPU_001',
  bindOrderNo,
  ...more,
});

/** Creates another node of a file's service. */
export const anotherNodeOfFile = (service: TestService, more: Partial<ServiceDeps> = {}): Node =>
  ofFile(() => anotherNode(service, more));

/** Creates another node of the stage's service, with the same institution. */
export const nodeOfFile = (on: Stage): Node =>
  anotherNodeOfFile(
    later(() => on.service),
    { gateways: { of: async () => on.institution } },
  );
