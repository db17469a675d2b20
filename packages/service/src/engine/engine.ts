import type { Logger } from 'pino';
import type { ChannelRegistry } from '../catalog/channels/registry.js';
import { openPaymentChannels } from '../catalog/payment-channels/pace-sql.js';
import { paymentChannelCodes } from '../catalog/payment-channels/sql.js';
import { createPushClient } from '../delivery/transport/push-client.js';
import type { Fulfilments } from '../fulfilment/registry.js';
import { suppliedBenefits } from '../fulfilment/settings-sql.js';
import type { Gateways } from '../gateways/registry.js';
import type { Clock } from '../platform/clock.js';
import type { Database } from '../platform/db/database.js';
import type { ClockWatch } from '../platform/installation/clock-watch.js';
import type { Vault } from '../platform/secrets/vault.js';
import type { SettleTogether } from '../subscriptions/steps/payments/settle-together.js';
import { housekeeping } from './housekeeping.js';
import { logAlerts } from './jobs/alert-lines.js';
import { type AlertingDeps, alerting } from './jobs/alerts.js';
import { billCollected } from './jobs/billing.js';
import { deliverer } from './jobs/deliveries.js';
import { reconcileDays } from './jobs/reconciliation.js';
import { renewDeducted } from './jobs/renewals.js';
import { endDueWithoutDebit } from './jobs/without-debit.js';
import type { BusinessMetrics } from './metrics/business.js';
import { mendFutureTimes } from './metrics/future-times-sql.js';
import { perCode } from './per-code.js';
import { businessReader } from './readings.js';
import { cancelAtInstitutions } from './recovery/cancellations.js';
import { askAboutPendingClaims, serveWaitingClaims } from './recovery/claims.js';
import { askAboutPendingDebits } from './recovery/debits.js';
import { askAboutPendingRefunds } from './recovery/refunds.js';
import { every } from './timer.js';

export interface EngineDeps extends AlertingDeps {
  readonly database: Database;
  readonly vault: Vault;
  readonly channels: ChannelRegistry;
  readonly gateways: Gateways;
  readonly fulfilments: Fulfilments;
  readonly settle: SettleTogether;
  readonly clock: Clock;
  readonly clockWatch: ClockWatch;
  readonly log: Logger;
  /** Shown by this node's /metrics. */
  readonly metrics?: BusinessMetrics;
  /** In place of the usual 15, for a test that cannot wait. */
  readonly readingSeconds?: number;
  readonly debitDeadlineMs?: number;
  readonly eventsRetentionDays?: number;
  /** Events may also go to this machine: a sandbox on its embedded database. */
  readonly localCallbacks?: boolean;
}

/** How often the clock is compared with the database's. */
const CLOCK_SECONDS = 5;

/** What the gauges of the installation show is that old at most, while the database is there. */
const READING_SECONDS = 15;

/** What a node does without being asked. Any number of nodes may do it at once. */
export function startEngine(engine: EngineDeps) {
  const { database, log, clockWatch } = engine;
  let stopped = false;
  const { metrics } = engine;
  // What a node whose clock is wrong has begun it leaves off where it may, as one does that is about to end.
  const stopping = () => stopped || !clockWatch.isRight();
  const deps = { ...engine, ...(metrics ? { counts: metrics.counts } : {}), stopping };
  const compareClocks = every(CLOCK_SECONDS, 'clock', log, () => clockWatch.compare(), { atOnce: true });
  const mendTimes = every(CLOCK_SECONDS, 'times of limits', log, () => mendFutureTimes(database));
  /** What depends on the time is begun only by a node that knows it. */
  const inTime = (job: () => Promise<unknown>) => async () => {
    await clockWatch.firstLook;
    return clockWatch.isRight() ? job() : undefined;
  };
  const failed = (job: string) => (err: unknown, code: string) =>
    log.warn({ err, job, of: code, cause: `job ${job} of ${code}` }, 'a background job failed and will be run again');
  const renewals = perCode(
    () => openPaymentChannels(database),
    (pace) => renewDeducted(deps, pace),
    failed('renewals'),
  );
  const perPaymentChannel = (name: string, job: (code: string) => Promise<unknown>) =>
    perCode(
      () => paymentChannelCodes(database),
      ({ code }) => job(code),
      failed(name),
    );
  const pendingDebits = perPaymentChannel('pending debits', (code) => askAboutPendingDebits(deps, code));
  const pendingRefunds = perPaymentChannel('pending refunds', (code) => askAboutPendingRefunds(deps, code));
  const cancellations = perPaymentChannel('agreement cancellations', (code) => cancelAtInstitutions(deps, code));
  const pendingClaims = perCode(
    () => suppliedBenefits(database),
    ({ code }) => askAboutPendingClaims(deps, code),
    failed('pending claims'),
  );
  const alerts = alerting(engine);
  const events = deliverer({
    ...deps,
    inTime,
    pushClient: createPushClient({ allowLocalhost: engine.localCallbacks === true }),
  });
  const inTimeEvery = (seconds: number, name: string, work: () => Promise<unknown>) =>
    every(seconds, name, log, inTime(work));
  const jobs = [
    compareClocks,
    mendTimes,
    inTimeEvery(1, 'billing', () => billCollected(database, deps.stopping)),
    inTimeEvery(1, 'without debit', () => endDueWithoutDebit(database, deps.stopping)),
    inTimeEvery(1, 'renewals', () => renewals.turn()),
    inTimeEvery(1, 'pending debits', () => pendingDebits.turn()),
    inTimeEvery(1, 'pending refunds', () => pendingRefunds.turn()),
    inTimeEvery(1, 'pending claims', () => pendingClaims.turn()),
    inTimeEvery(1, 'waiting claims', () => serveWaitingClaims(deps)),
    inTimeEvery(5, 'agreement cancellations', () => cancellations.turn()),
    inTimeEvery(300, 'reconciliation', () => reconcileDays(deps)),
    every(60, 'housekeeping', log, inTime(housekeeping(engine)), { atOnce: true }),
    every(5, 'alert lines', log, () => logAlerts(deps)),
    ...(metrics
      ? [
          every(engine.readingSeconds ?? READING_SECONDS, 'readings', log, businessReader({ ...deps, metrics }), {
            atOnce: true,
          }),
        ]
      : []),
  ];
  return {
    async stop(): Promise<void> {
      stopped = true;
      await Promise.all(jobs.map((job) => job.stop()));
      await Promise.all([
        ...[renewals, pendingDebits, pendingRefunds, cancellations, pendingClaims].map((job) => job.ended()),
        events.stop(),
        alerts.stop(),
      ]);
    },
  };
}
