import type { Logger } from 'pino';
import type { ChannelRegistry } from '../channels/registry.js';
import type { Clock } from '../clock.js';
import type { Database } from '../db/database.js';
import type { Fulfilments } from '../fulfilment/registry.js';
import { suppliedBenefits } from '../fulfilment/settings-sql.js';
import type { Gateways } from '../gateways/registry.js';
import type { BusinessMetrics } from '../metrics/business.js';
import { openPaymentChannels } from '../payment-channels/pace-sql.js';
import { paymentChannelCodes } from '../payment-channels/sql.js';
import type { SettleTogether } from '../payments/settle-together.js';
import type { Vault } from '../secrets/vault.js';
import { connections } from '../webhooks/connections.js';
import { cancelAtInstitutions } from './agreement-cancellations.js';
import { logAlerts } from './alert-lines.js';
import { billCollected } from './billing.js';
import { deliverer } from './deliveries.js';
import { housekeeping } from './housekeeping.js';
import { askAboutPendingClaims, serveWaitingClaims } from './pending-claims.js';
import { askAboutPendingDebits } from './pending-debits.js';
import { askAboutPendingRefunds } from './pending-refunds.js';
import { perCode } from './per-code.js';
import { businessReader, type CompareClocks } from './readings.js';
import { reconcileDays } from './reconciliation.js';
import { renewDeducted } from './renewals.js';
import { every } from './timer.js';
import { endDueWithoutDebit } from './without-debit.js';

export interface EngineDeps {
  readonly database: Database;
  readonly vault: Vault;
  readonly channels: ChannelRegistry;
  readonly gateways: Gateways;
  readonly fulfilments: Fulfilments;
  readonly settle: SettleTogether;
  readonly clock: Clock;
  readonly log: Logger;
  /** Shown by this node's /metrics. */
  readonly metrics?: BusinessMetrics;
  /** In place of the engine's own comparison of the two clocks. */
  readonly compareClocks?: CompareClocks | undefined;
  /** In place of the usual 15, for a test that cannot wait. */
  readonly readingSeconds?: number;
  readonly debitDeadlineMs?: number;
  readonly eventsRetentionDays?: number;
  /** Events may also go to this machine: a sandbox on its embedded database. */
  readonly localCallbacks?: boolean;
}

/** What the gauges of the installation show is that old at most, while the database is there. */
const READING_SECONDS = 15;

/** What a node does without being asked. Any number of nodes may do it at once. */
export function startEngine(engine: EngineDeps) {
  const { database, log } = engine;
  let stopped = false;
  const { metrics } = engine;
  const deps = { ...engine, ...(metrics ? { counts: metrics.counts } : {}), stopping: () => stopped };
  const failed = (job: string) => (err: unknown, code: string) =>
    log.warn({ err, job, of: code, cause: `job ${job} of ${code}` }, 'a background job failed and will be run again');
  const renewals = perCode(
    () => openPaymentChannels(database),
    (pace) => renewDeducted(deps, pace),
    failed('renewals'),
  );
  const questions = perCode(
    () => paymentChannelCodes(database),
    ({ code }) => askAboutPendingDebits(deps, code),
    failed('pending debits'),
  );
  const suppliers = perCode(
    () => suppliedBenefits(database),
    ({ code }) => askAboutPendingClaims(deps, code),
    failed('pending claims'),
  );
  const events = deliverer({ ...deps, connections: connections({ local: engine.localCallbacks === true }) });
  const jobs = [
    every(1, 'billing', log, () => billCollected(database, deps.stopping)),
    every(1, 'without debit', log, () => endDueWithoutDebit(database, deps.stopping)),
    every(1, 'renewals', log, () => renewals.turn()),
    every(1, 'pending debits', log, () => questions.turn()),
    every(1, 'pending refunds', log, () => askAboutPendingRefunds(deps)),
    every(1, 'pending claims', log, () => suppliers.turn()),
    every(1, 'waiting claims', log, () => serveWaitingClaims(deps)),
    every(5, 'agreement cancellations', log, () => cancelAtInstitutions(deps)),
    every(300, 'reconciliation', log, () => reconcileDays(deps)),
    every(60, 'housekeeping', log, housekeeping(engine), { atOnce: true }),
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
      await Promise.all([renewals.ended(), questions.ended(), suppliers.ended(), events.stop()]);
    },
  };
}
