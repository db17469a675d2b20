import { listPaymentChannelCodes } from '../catalog/payment-channels/list-payment-channels-sql.js';
import { listOpenPaymentChannels } from '../catalog/payment-channels/pace-sql.js';
import type { OnPush } from '../delivery/counts.js';
import { createPushClient } from '../delivery/transport/push-client.js';
import { listSuppliedBenefits } from '../fulfilment/fulfilment-settings-sql.js';
import type { ClockWatch } from '../platform/installation/clock-watch.js';
import type { RedeemLinks } from '../subscriptions/domain/orders/redeem-links.js';
import { createBusinessReader } from './business-reader.js';
import { resetFutureTimes } from './housekeeping/future-times-sql.js';
import { createHousekeeping } from './housekeeping.js';
import type { JobDeps } from './job-deps.js';
import { type AlertingDeps, logAlerts, startAlerting, USUAL_SECONDS } from './jobs/alerts.js';
import { createAuditJob } from './jobs/audit.js';
import { billDueOrders } from './jobs/billing.js';
import { finishApprovedRefunds, followBulkItems, workOffBulkRuns } from './jobs/bulk.js';
import { CLOCK_COMPARISON_SECONDS, watchClock } from './jobs/clock.js';
import { replaceDataKeys } from './jobs/data-keys.js';
import { startDeliveries } from './jobs/deliveries.js';
import { expireAndCompleteDue } from './jobs/expire-and-complete.js';
import { reportFailedSignIns } from './jobs/failed-sign-ins.js';
import { createFiguresJob } from './jobs/figures.js';
import { watchInstitutions } from './jobs/institutions.js';
import { alignNoticeDays, noticeDueOrders } from './jobs/notices.js';
import { watchPoolStock } from './jobs/pool-stock.js';
import { watchReceivers } from './jobs/receivers.js';
import { reconcileDays } from './jobs/reconciliation.js';
import { renewDueOrders } from './jobs/renewals.js';
import type { BusinessMetrics } from './metrics/business-metrics.js';
import { cancelAtInstitutions } from './recovery/cancellations.js';
import { askAboutPendingClaims, serveWaitingClaims } from './recovery/claims.js';
import { askAboutPendingDebits } from './recovery/debits.js';
import { askAboutPendingRefunds } from './recovery/refunds.js';
import { createRunsPerCode } from './runs-per-code.js';
import { runEvery } from './timer.js';

export interface EngineDeps extends Omit<AlertingDeps, 'clock'>, Omit<JobDeps, 'counts' | 'stopping'> {
  readonly links: RedeemLinks;
  readonly clockWatch: ClockWatch;
  /** The metrics that this node's /metrics shows. */
  readonly metrics?: BusinessMetrics;
  /** Replaces the default of 15 in tests. */
  readonly readingSeconds?: number;
  readonly eventsRetentionDays?: number;
  readonly agreementDataDays?: number;
  readonly pushesPerAddress?: number;
  readonly onPush?: OnPush;
  /** Permits callbacks to this machine, for a sandbox on its embedded database. */
  readonly localCallbacks?: boolean;
}

/** The interval at which the gauges of the installation are read from the database. */
const READING_SECONDS = 15;

/** Starts all work that a node does without a request. Any number of nodes can do this work at the same time. */
export function startEngine(engine: EngineDeps) {
  const { database, log, clockWatch } = engine;
  let stopped = false;
  const { metrics } = engine;
  // A node whose clock is wrong behaves like a stopping node: jobs that depend on the time begin no new work and finish
  // the work in progress.
  const stopping = () => stopped || !clockWatch.isRight();
  const deps = { ...engine, ...(metrics ? { counts: metrics.counts } : {}), stopping };
  const compareClocks = runEvery(CLOCK_COMPARISON_SECONDS, 'clock', log, () => watchClock(database, clockWatch), {
    atOnce: true,
  });
  const resetTimes = runEvery(CLOCK_COMPARISON_SECONDS, 'times of limits', log, () => resetFutureTimes(database));
  /** Runs time-dependent jobs only while the node's clock is right. */
  const whileClockIsRight = (job: () => Promise<unknown>) => async () => {
    await clockWatch.firstLook;
    return clockWatch.isRight() ? job() : undefined;
  };
  const logFailedJob = (job: string) => (err: unknown, code: string) =>
    log.warn({ err, job, of: code, cause: `job ${job} of ${code}` }, 'a background job failed and will be run again');
  const renewals = createRunsPerCode(
    () => listOpenPaymentChannels(database),
    (pace) => renewDueOrders(deps, pace),
    logFailedJob('renewals'),
  );
  const perPaymentChannel = (name: string, job: (code: string) => Promise<unknown>) =>
    createRunsPerCode(
      () => listPaymentChannelCodes(database),
      ({ code }) => job(code),
      logFailedJob(name),
    );
  const pendingDebits = perPaymentChannel('pending debits', (code) => askAboutPendingDebits(deps, code));
  const pendingRefunds = perPaymentChannel('pending refunds', (code) => askAboutPendingRefunds(deps, code));
  const cancellations = perPaymentChannel('agreement cancellations', (code) => cancelAtInstitutions(deps, code));
  const pendingClaims = createRunsPerCode(
    () => listSuppliedBenefits(database),
    ({ code }) => askAboutPendingClaims(deps, code),
    logFailedJob('pending claims'),
  );
  const alerts = startAlerting(engine);
  const events = startDeliveries({
    ...deps,
    whileClockIsRight,
    pushClient: createPushClient({ allowLocalhost: engine.localCallbacks === true }),
  });
  const runEveryWhileClockIsRight = (seconds: number, name: string, work: () => Promise<unknown>) =>
    runEvery(seconds, name, log, whileClockIsRight(work));
  const jobs = [
    compareClocks,
    resetTimes,
    runEveryWhileClockIsRight(1, 'billing', () => billDueOrders(database, deps.stopping)),
    runEveryWhileClockIsRight(1, 'notices', () => noticeDueOrders(database, deps.stopping)),
    runEveryWhileClockIsRight(1, 'days of notices', () => alignNoticeDays(database, deps.stopping)),
    runEveryWhileClockIsRight(1, 'without debit', () => expireAndCompleteDue(database, deps.stopping)),
    runEveryWhileClockIsRight(1, 'renewals', () => renewals.startRuns()),
    runEveryWhileClockIsRight(1, 'pending debits', () => pendingDebits.startRuns()),
    runEveryWhileClockIsRight(1, 'pending refunds', () => pendingRefunds.startRuns()),
    runEveryWhileClockIsRight(1, 'pending claims', () => pendingClaims.startRuns()),
    runEveryWhileClockIsRight(1, 'waiting claims', () => serveWaitingClaims(deps)),
    runEvery(30, 'pool stock', log, () => watchPoolStock(database), { atOnce: true }),
    runEveryWhileClockIsRight(5, 'agreement cancellations', () => cancellations.startRuns()),
    runEveryWhileClockIsRight(1, 'bulk runs', () => workOffBulkRuns(deps)),
    runEveryWhileClockIsRight(5, 'results of bulk runs', () => followBulkItems(deps)),
    runEveryWhileClockIsRight(5, 'approved refunds', () => finishApprovedRefunds(deps)),
    runEvery(5, 'data keys', log, () => replaceDataKeys(deps), { atOnce: true }),
    runEveryWhileClockIsRight(300, 'reconciliation', () => reconcileDays(deps)),
    runEvery(60, 'housekeeping', log, whileClockIsRight(createHousekeeping(engine)), { atOnce: true }),
    runEvery(60, 'figures', log, whileClockIsRight(createFiguresJob(deps)), { atOnce: true }),
    runEvery(engine.alertSeconds?.resolved ?? USUAL_SECONDS.resolved, 'institutions', log, () =>
      watchInstitutions(database),
    ),
    runEvery(engine.alertSeconds?.resolved ?? USUAL_SECONDS.resolved, 'receivers', log, () => watchReceivers(database)),
    runEvery(15, 'failed sign-ins', log, () => reportFailedSignIns(database)),
    runEvery(5, 'alert lines', log, () => logAlerts(deps)),
    runEvery(600, 'audit log', log, createAuditJob(deps), { atOnce: true }),
    ...(metrics
      ? [
          runEvery(
            engine.readingSeconds ?? READING_SECONDS,
            'readings',
            log,
            createBusinessReader({ ...deps, metrics }),
            {
              atOnce: true,
            },
          ),
        ]
      : []),
  ];
  return {
    async stop(): Promise<void> {
      stopped = true;
      await Promise.all(jobs.map((job) => job.stop()));
      await Promise.all([
        ...[renewals, pendingDebits, pendingRefunds, cancellations, pendingClaims].map((job) => job.finished()),
        events.stop(),
        alerts.stop(),
      ]);
    },
  };
}
