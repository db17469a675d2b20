// A job queue that sends events in a separate process, with one job per event. The job contains the event, so the
// process reads nothing else. The service's own code composes and signs the push, and undici sends it. Only the queue
// itself records anything about a push.
import { setTimeout as delay } from 'node:timers/promises';
import { Logger, run as runGraphile, runMigrations } from 'graphile-worker';
import pg from 'pg';
import PgBoss from 'pg-boss';
import { request } from 'undici';
import { createChannelRegistry } from '../../dist/catalog/channels/channel-registry.js';
import { createMessage, signPush } from '../../dist/delivery/receivers/message.js';
import { createReceiverRegistry } from '../../dist/delivery/receivers/receivers.js';
import { PUSH_DEADLINE_MS, PUSH_RETRY_DELAYS_SECONDS } from '../../dist/delivery/schedule.js';
import { isAccepted } from '../../dist/delivery/transport/push-result.js';
import { systemClock as clock } from '../../dist/platform/clock.js';
import { openDatabaseFromSettings } from '../../dist/platform/installation/open-database.js';
import { readSettings } from '../../dist/platform/settings.js';
import { answer } from '../renewals/answer.mjs';

const SLOTS = 64;
/** The number of pg-boss workers. With several workers, one works on jobs while another fetches jobs. */
const WORKERS = 4;
const MOST_FETCHED = 2_000;
const QUEUE = 'push';
/** Writes no log, because a line per job would be work that the engine does not do. */
const SILENT = new Logger(() => () => undefined);
const EVENT = `json_build_object('channelId', channel_id, 'orderNo', order_no, 'eventNo', event_no, 'eventType', event_type,
  'occurredAt', (extract(epoch from occurred_at) * 1000)::bigint, 'data', data)`;

let database;
let receivers;
let peer;
/** The highest event number that already has a job. */
let prepared = 0;

answer({
  async open({ url, dataDir, name }) {
    const settings = readSettings({ DATA_DIR: dataDir, DATABASE_URL: url });
    const opened = await openDatabaseFromSettings(settings, { role: 'service', log: () => undefined });
    database = opened.database;
    receivers = createReceiverRegistry(database, createChannelRegistry(database, opened.vault));
    peer = PEERS[name](url);
    await peer.open();
  },
  async prepare() {
    await peer.prepare(prepared);
    [{ prepared }] = await database.query('select max(event_no) as prepared from events');
  },
  begin: ({ count }) => peer.begin(count),
  finish: () => peer.finish(),
  async close() {
    await peer.close();
    await database.close();
  },
});

async function push({ channelId, eventNo, orderNo, ...event }) {
  const receiver = await receivers.get(channelId);
  const { url } = receiver.addresses[1];
  const due = { eventNo, orderNo, cycleNo: 0, typeNo: 1, retryNo: 0 };
  const message = createMessage(receiver, undefined, due, { ...event, mobile: null, channelUserId: null });
  const { headers, body } = signPush(receiver, new URL(url).pathname, message, clock.now());
  const answered = await request(url, {
    method: 'POST',
    headers: headers.trimEnd().split(/: |\r\n/),
    body,
    headersTimeout: PUSH_DEADLINE_MS,
    bodyTimeout: PUSH_DEADLINE_MS,
  });
  const text = await answered.body.text();
  if (!isAccepted({ status: answered.statusCode, body: text, isCut: false })) throw new Error('it was not accepted');
}

const PEERS = {
  /** graphile-worker fetches many jobs at once and completes together the jobs that end together (its "batching"). */
  'graphile-worker': (connectionString) => {
    const pgPool = new pg.Pool({ connectionString, max: 4 });
    let runner;
    return {
      open: () => runMigrations({ pgPool, logger: SILENT }),
      async prepare(after) {
        await pgPool.query(
          `select graphile_worker.add_job($1, ${EVENT}) from events where event_no > $2 order by event_no`,
          [QUEUE, after],
        );
        await pgPool.query('vacuum analyze graphile_worker._private_jobs');
      },
      async begin() {
        runner = await runGraphile({
          pgPool,
          preset: {
            worker: {
              concurrentJobs: SLOTS,
              localQueue: { size: 1000 },
              completeJobBatchDelay: 0,
              failJobBatchDelay: 0,
            },
          },
          noHandleSignals: true,
          logger: SILENT,
          taskList: { [QUEUE]: push },
        });
      },
      finish: () => runner.stop(),
      close: () => pgPool.end(),
    };
  },

  /** Fetches and completes jobs in batches. */
  'pg-boss': (connectionString) => {
    const boss = new PgBoss({ connectionString, max: 4, supervise: false, schedule: false });
    boss.on('error', () => undefined);
    return {
      async open() {
        await boss.start();
        const [retryDelay] = PUSH_RETRY_DELAYS_SECONDS;
        await boss.createQueue(QUEUE, { retryLimit: PUSH_RETRY_DELAYS_SECONDS.length, retryDelay });
      },
      async prepare(after) {
        const due = await database.query(`select ${EVENT} as data from events where event_no > $1 order by event_no`, [
          after,
        ]);
        while (due.length > 0) await boss.insert(due.splice(0, 1000).map(({ data }) => ({ name: QUEUE, data })));
        await database.query('vacuum analyze pgboss.job');
      },
      async begin(count) {
        const batch = async (jobs) => {
          const slot = async () => {
            for (let job = jobs.pop(); job; job = jobs.pop()) {
              const { id, data } = job;
              // Fails only this job, because an error would fail the whole batch.
              await push(data).catch(() => boss.fail(QUEUE, id));
            }
          };
          await Promise.all(Array.from({ length: SLOTS / WORKERS }, slot));
        };
        const batchSize = Math.min(MOST_FETCHED, Math.ceil(count / WORKERS));
        for (let worker = 0; worker < WORKERS; worker += 1) {
          await boss.work(QUEUE, { batchSize, pollingIntervalSeconds: 0.5 }, batch);
        }
      },
      async finish() {
        await boss.offWork(QUEUE);
        // Polls the table, because pg-boss does not report when it has recorded the last jobs.
        while ((await database.query(`select from pgboss.job where state = 'active' limit 1`)).length > 0)
          await delay(20);
      },
      close: () => boss.stop({ graceful: false }),
    };
  },
};
