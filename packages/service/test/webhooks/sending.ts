import { type Logger, pino } from 'pino';
import { createChannelRegistry } from '../../src/catalog/channels/channel-registry.js';
import { createDispatcher, type DispatcherDeps } from '../../src/delivery/dispatcher/dispatcher.js';
import { createPushClient } from '../../src/delivery/transport/push-client.js';
import type { Operator } from '../../src/operator/operator.js';
import { setCallback } from '../../src/operator/provisioning/channel-settings.js';
import { type Database, openDatabase, type Queryable, Unavailable, wrapQuery } from '../../src/platform/db/database.js';
import { createRedeemLinks } from '../../src/subscriptions/domain/orders/redeem-links.js';
import type { ofFile } from '../orders/stage-of-file.js';
import type { ChannelClient } from '../support/channel-client.js';
import { until } from '../support/processes.js';
import type { TestService } from '../support/service.js';
import { type ReceivedPush, type ReceiverOptions, startReceiver, type TestReceiver } from './receiver.js';

/** What a test does to a node's connection to its database. */
export interface DatabaseFaults {
  /** Around each statement, by its name or text. */
  around?: (statement: string, run: () => Promise<unknown>) => Promise<unknown>;
  /** Nothing gets through. */
  away?: boolean;
  /** Statements that did not. */
  refused?: string[];
}

export type SendingNode = ReturnType<typeof createSendingNode>;

/** A node that sends events when a test says so. */
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
  const { balance, node } = dispatcher;
  /** Renews its lease each second until told to end; the end waits for the renewal under way. */
  const keepLease = () => {
    let renewal: Promise<unknown> = Promise.resolve();
    const renewing = setInterval(() => {
      renewal = renewal.then(balance).catch(() => undefined);
    }, 1_000);
    return {
      async end() {
        clearInterval(renewing);
        await renewal;
      },
    };
  };
  /** Comes back when nothing is under way; until then it goes on renewing its lease. */
  const untilQuiet = async () => {
    const lease = keepLease();
    await until('nothing under way', () => dispatcher.isQuiet()).finally(lease.end);
  };
  return {
    node,
    balance,
    read: () => dispatcher.read(),
    untilQuiet,
    keepLease,
    /** Takes its shards, reads once what is due, and comes back when all that follows is over and written down. */
    async turn() {
      await balance();
      while (await dispatcher.read());
      await untilQuiet();
    },
    /** As a node that is told to end. */
    async stop() {
      await dispatcher.drain();
      await dispatcher.release();
      await database.close();
    },
    /** As one that was killed, as far as the others can tell: it says nothing more. */
    close: () => database.close(),
  };
}

/** Such a node for a file or for each test, which is told to end after it. */
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

/** Waits longer than any test takes: what hangs does so until its receiver cuts it off or is closed. */
export const withLongDeadline = () => ({ pushClient: createPushClient({ allowLocalhost: true, deadlineMs: 300_000 }) });

/** Callbacks to this machine are taken. */
export const localOperator = ({ operator }: TestService): Operator => ({ ...operator, localCallbacks: true });

/** A receiver for a channel, told to the service. */
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

/** A push in a word: what it is about, and what it says. */
export const statusIn = ({ data }: Pick<ReceivedPush, 'data'>): string => data.paymentStatus ?? data.orderStatus;
