import { type Logger, pino } from 'pino';
import { createChannelRegistry } from '../../src/catalog/channels/channel-registry.js';
import { createDispatcher, type DispatcherDeps } from '../../src/delivery/dispatcher/dispatcher.js';
import { createPushClient } from '../../src/delivery/transport/push-client.js';
import { runEvery } from '../../src/engine/timer.js';
import type { Operator } from '../../src/operator/operator.js';
import { setCallback } from '../../src/operator/provisioning/channel-settings.js';
import { type Database, openDatabase, type Queryable, Unavailable, wrapQuery } from '../../src/platform/db/database.js';
import { createRedeemLinks } from '../../src/subscriptions/domain/orders/redeem-links.js';
import type { ofFile } from '../orders/stage-of-file.js';
import type { ChannelClient } from '../support/channel-client.js';
import { until } from '../support/processes.js';
import type { TestService } from '../support/service.js';
import { type ReceivedPush, type ReceiverOptions, startReceiver, type TestReceiver } from './receiver.js';

/** Faults that a test injects into a node's database connection. */
export interface DatabaseFaults {
  /** Called instead of each statement, with its name or text. `run` executes the statement. */
  around?: (statement: string, run: () => Promise<unknown>) => Promise<unknown>;
  /** Fails every statement. */
  away?: boolean;
  /** Statements that were failed. */
  refused?: string[];
}

export type SendingNode = ReturnType<typeof createSendingNode>;

/** Creates a node that sends events only when a test calls it. */
export function createSendingNode(
  { fresh, vault, clock }: TestService,
  more: Partial<DispatcherDeps> = {},
  faults: DatabaseFaults = {},
) {
  const database = withFaults(openDatabase({ url: fresh.url, pool: 8, name: 'test sender' }), faults);
  const log: Logger = pino({ level: 'silent' });
  const channels = createChannelRegistry(database, vault);
  const dispatcher = createDispatcher({
    database,
    channels,
    links: createRedeemLinks(() => 'http://localhost', clock),
    clock,
    log,
    pushClient: createPushClient({ allowLocalhost: true }),
    ...more,
  });
  const { node } = dispatcher;
  let balanced: Promise<unknown> = Promise.resolve();
  /** Balances after the balances in progress, as the engine does, because an overlapping balance may take no shards. */
  const balance = () => {
    const result = balanced.then(dispatcher.balance);
    balanced = result.catch(() => undefined);
    return result;
  };
  /** Renews the node's lease each second until stopped. Stopping waits for the renewal in progress. */
  const keepLease = () => ({ end: runEvery(1, 'shards of events', log, balance).stop });
  /** Resolves when nothing is in flight. Renews the node's lease until then. */
  const untilQuiet = async () => {
    const lease = keepLease();
    await until('nothing in flight', () => dispatcher.isQuiet()).finally(lease.end);
  };
  return {
    node,
    balance,
    read: () => dispatcher.read(),
    untilQuiet,
    keepLease,
    /**
     * Takes the node's shards, sends all due events, and resolves when all their outcomes are stored. Reads repeatedly
     * until then, as the engine does, because only a later read retries events that could not be read.
     */
    async turn() {
      await balance();
      const lease = keepLease();
      await until('nothing due or in flight', async () => {
        const wasQuiet = dispatcher.isQuiet();
        const isMore = await dispatcher.read().catch(() => true);
        return !isMore && wasQuiet && dispatcher.isQuiet();
      }).finally(lease.end);
    },
    /** Stops like a node at an orderly shutdown. */
    async stop() {
      await dispatcher.drain();
      await dispatcher.release();
      await database.close();
    },
    /** Stops like a killed node: stores nothing more. */
    close: () => database.close(),
  };
}

/** Creates a sending node for a file or for each test, and stops it afterwards. */
export const sendingNodeOf = (
  hold: typeof ofFile,
  service: TestService,
  more: () => Partial<DispatcherDeps> = () => ({}),
  faults: DatabaseFaults = {},
): SendingNode =>
  hold(async () => {
    const node = createSendingNode(service, more(), faults);
    return { ...node, close: node.stop };
  });

function withFaults(database: Database, faults: DatabaseFaults): Database {
  const through = <T>(name: string, run: () => Promise<T>): Promise<T> => {
    if (faults.away) {
      faults.refused?.push(name);
      return Promise.reject(new Unavailable('away'));
    }
    return faults.around ? (faults.around(name, run) as Promise<T>) : run();
  };
  const queryable = (db: Queryable): Queryable => ({
    query: wrapQuery(db, (run, { name, text }) => through(name ?? text, run)),
  });
  return {
    ...database,
    ...queryable(database),
    transaction: (work) => through('begin', () => database.transaction((tx) => work({ ...tx, ...queryable(tx) }))),
    close: () => database.close(),
  };
}

/**
 * Returns a push client whose deadline is longer than any test takes: a hanging push ends only when its receiver cuts
 * the connection or is closed.
 */
export const withLongDeadline = () => ({ pushClient: createPushClient({ allowLocalhost: true, deadlineMs: 300_000 }) });

/** Returns an operator that accepts callbacks to this machine. */
export const localOperator = ({ operator }: TestService): Operator => ({ ...operator, localCallbacks: true });

/** Starts a receiver and registers it as the channel's callback. */
export async function registerReceiver(
  service: TestService,
  { credentials }: ChannelClient,
  options: ReceiverOptions & { readonly eventType?: string } = {},
): Promise<TestReceiver> {
  const { appId, callbackSecret } = credentials;
  const { eventType, ...rest } = options;
  const receiver = await startReceiver({ secrets: { [appId]: callbackSecret }, ...rest });
  await setCallback(localOperator(service), { appId, url: receiver.url, ...(eventType ? { eventType } : {}) });
  return receiver;
}

/** Returns the status that a push announces. */
export const statusIn = ({ data }: Pick<ReceivedPush, 'data'>): string => data.paymentStatus ?? data.orderStatus;
