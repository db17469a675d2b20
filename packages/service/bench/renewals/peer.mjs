// A job queue that renews orders in a separate process, with one job per order. A job makes, for its order, the same
// writes as the engine's statement for many orders, in one statement and so in one transaction. In mode A the job
// stores the attempt, calls the institution and settles, as the engine does.
import { Logger, run as runGraphile, runMigrations } from 'graphile-worker';
import PgBoss from 'pg-boss';
import { createChannelRegistry } from '../../dist/catalog/channels/channel-registry.js';
import { createBridgeGateway } from '../../dist/gateways/bridge/bridge-gateway.js';
import { createGatewayRegistry } from '../../dist/gateways/gateway-registry.js';
import { systemClock as clock } from '../../dist/platform/clock.js';
import { openDatabaseFromSettings } from '../../dist/platform/installation/open-database.js';
import { readSettings } from '../../dist/platform/settings.js';
import { RENEWAL_LEASE_SECONDS } from '../../dist/subscriptions/domain/payments/debit-policy.js';
import { createDebitRequest, sendDebit } from '../../dist/subscriptions/steps/payments/send-debit.js';
import { settleDebits } from '../../dist/subscriptions/steps/payments/settle-debits.js';
import { unsealInstitutionNo } from '../../dist/subscriptions/store/agreements/card.js';
import { startRenewals } from '../../dist/subscriptions/store/orders/start-renewals-sql.js';
import { BRIDGE } from '../rows.mjs';
import { answer } from './answer.mjs';
import { billOne } from './one-order.mjs';

/** The number of concurrent jobs, found by experiment: a higher number makes neither queue faster on two cores. */
const AT_A_TIME = 24;
/** The number of pg-boss workers. With several workers, one works on jobs while another fetches jobs. */
const WORKERS = 3;
const QUEUE = 'renew';
/** Writes no log, because a line per job would be work that the engine does not do. */
const SILENT = new Logger(() => () => undefined);

let renewal;
/**
 * The statement timeout for adding jobs. Adding twenty thousand jobs takes longer than the service's own statement
 * timeout.
 */
const ADDING_LIMIT_MS = 120_000;

let database;
let peer;

answer({
  async open({ url, dataDir, name, mode }) {
    const settings = readSettings({ DATA_DIR: dataDir, DATABASE_URL: url, DATABASE_POOL: String(AT_A_TIME) });
    const opened = await openDatabaseFromSettings(settings, { role: 'service', log: () => undefined });
    database = opened.database;
    renewal = mode === 'B' ? (orderNo) => billOne(database, orderNo) : debit(opened);
    peer = PEERS[name](url);
    await peer.prepare();
  },
  run: ({ count }) => peer.run(count),
  async close() {
    await peer.close?.();
    await database.close();
  },
});

const one = (orderNo) => ({ kind: 'one-order', at: Date.now(), orderNo });

function debit({ vault }) {
  const channels = createChannelRegistry(database, vault);
  const bridge = (url, key) => createBridgeGateway({ url, key, clock });
  const gateways = createGatewayRegistry({ database, vault, environment: 'sandbox' }, { bridge });
  return async (orderNo) => {
    const batch = await startRenewals(database, BRIDGE, one(orderNo), 1, RENEWAL_LEASE_SECONDS);
    const [attempt] = batch.renewals;
    if (!attempt) throw new Error(`order ${orderNo} was not due`);
    const channel = await channels.getById(attempt.channelId);
    const gateway = await gateways.of(BRIDGE);
    const outcome = await sendDebit(
      gateway,
      createDebitRequest(attempt, channel, unsealInstitutionNo(channel, attempt)),
    );
    await database.transaction((tx) => settleDebits(tx, [{ attempt, outcome }], clock.now()));
  };
}

/** Resolves when `count` jobs are done. Rejects with the first error. */
function counted(count) {
  let done = 0;
  let finish;
  const finished = new Promise((resolve, reject) => {
    finish = { resolve, reject };
  });
  const work = async (orderNo) => {
    try {
      await renewal(orderNo);
    } catch (error) {
      finish.reject(error);
      throw error;
    }
    done += 1;
    if (done === count) finish.resolve();
  };
  return { work, finished };
}

const PEERS = {
  /** graphile-worker fetches many jobs at once and completes together the jobs that end together (its "batching"). */
  'graphile-worker': (connectionString) => ({
    async prepare() {
      await runMigrations({ connectionString, logger: SILENT });
      const addAll = (tx) =>
        tx.query(
          `select graphile_worker.add_job($1, json_build_object('orderNo', order_no)) from orders
           where next_due_at <= now() order by next_due_at, order_no`,
          [QUEUE],
        );
      await database.transaction(addAll, { statementMs: ADDING_LIMIT_MS });
      await database.query('vacuum analyze graphile_worker._private_jobs');
    },
    async run(count) {
      const { work, finished } = counted(count);
      const runner = await runGraphile({
        connectionString,
        preset: {
          worker: {
            concurrentJobs: AT_A_TIME,
            maxPoolSize: 4,
            localQueue: { size: 1000 },
            completeJobBatchDelay: 0,
            failJobBatchDelay: 0,
          },
        },
        noHandleSignals: true,
        logger: SILENT,
        taskList: { [QUEUE]: ({ orderNo }) => work(orderNo) },
      });
      await finished;
      await runner.stop();
      return count;
    },
  }),

  /** pg-boss fetches and completes jobs in batches. */
  'pg-boss': (connectionString) => {
    const boss = new PgBoss({ connectionString, max: 4, supervise: false, schedule: false });
    boss.on('error', () => undefined);
    return {
      async prepare() {
        await boss.start();
        await boss.createQueue(QUEUE);
        const due = await database.query(
          'select order_no as "orderNo" from orders where next_due_at <= now() order by next_due_at, order_no',
        );
        while (due.length > 0) await boss.insert(due.splice(0, 1000).map((data) => ({ name: QUEUE, data })));
        await database.query('vacuum analyze pgboss.job');
      },
      async run(count) {
        const { work, finished } = counted(count);
        const batch = async (jobs) => {
          const lane = async () => {
            for (let job = jobs.pop(); job; job = jobs.pop()) await work(job.data.orderNo);
          };
          await Promise.all(Array.from({ length: AT_A_TIME / WORKERS }, lane));
        };
        for (let worker = 0; worker < WORKERS; worker += 1) {
          await boss.work(QUEUE, { batchSize: 1000, pollingIntervalSeconds: 0.5 }, batch);
        }
        await finished;
        await boss.offWork(QUEUE);
        return count;
      },
      close: () => boss.stop({ graceful: false }),
    };
  },
};
