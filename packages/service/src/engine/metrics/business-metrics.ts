import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, Gauge, Registry } from 'prom-client';
import { severityOf } from '../../alerts/alerts-sql.js';
import { type DeliveryCounts, PUSH_OUTCOMES } from '../../delivery/counts.js';
import { CLAIM_OUTCOMES, DEBIT_OUTCOMES, type SubscriptionCounts } from '../../subscriptions/domain/counts.js';

/** Values read from the database, for the whole installation and not only this node. Ages are in seconds. */
const GAUGES = {
  webhookBacklog: ['perennial_webhook_backlog', 'Events that are due to be sent, at most 100001'],
  webhookOldestSeconds: ['perennial_webhook_oldest_seconds', 'Seconds since the oldest of them became due'],
  renewalsDue: ['perennial_renewals_due', 'Orders whose next period is due, at most 100001'],
  renewalsOldestSeconds: ['perennial_renewals_oldest_seconds', 'Seconds since the oldest of them became due'],
  noticesDue: ['perennial_notices_due', 'Periods whose notice before the debit is due, at most 100001'],
  noticesOldestSeconds: ['perennial_notices_oldest_seconds', 'Seconds since the oldest of them became due'],
  debitsUnknown: ['perennial_debits_unknown', 'Debits that were queried and have no result'],
  refundsUnknown: ['perennial_refunds_unknown', 'Refunds that were queried and have no result'],
  claimsWaiting: ['perennial_claims_waiting', 'Claims that wait for their code'],
  auditHeadSeq: ['perennial_audit_head_seq', 'Number of the last entry of the audit log'],
} as const;

/** Gauges with a label, such as kind or benefit. */
const LABELED_GAUGES = {
  alertsOpen: ['perennial_alerts_open', 'Alerts that are open and not acknowledged, at most 1001 of a kind', 'kind'],
  codesLeft: ['perennial_benefit_codes_left', 'Codes left in the pool of a benefit, at most 10001', 'benefit'],
  silentSeconds: [
    'perennial_institution_silent_seconds',
    'Seconds for which every call to the institution of a payment channel has failed, up to the last',
    'payment_channel',
  ],
  backupSeconds: [
    'perennial_backup_age_seconds',
    'Seconds since the last backup of each kind, as far as the database knows',
    'way',
  ],
} as const;

export type BusinessReading = Readonly<Record<keyof typeof GAUGES, number>> &
  Readonly<Record<keyof typeof LABELED_GAUGES, Readonly<Record<string, number>>>> & {
    /** Settled refunds that the previous reading has not found. */
    readonly refunds: { readonly success: number; readonly refused: number };
  };

/** The maximum number of payment channels that are shown by name. All others are counted as OTHER. */
const MAX_NAMES = 100;
const OTHER = 'other';
/** The resolution with which the delay of the event loop is measured. */
const LOOP_RESOLUTION_MS = 20;
/** The maximum delay of the event loop is taken over one to two times this time. */
const LOOP_WINDOW_MS = 15_000;

/**
 * Creates the metrics about orders, debits, events and claims, and about the process. The counters count what this node
 * did, except refunds. The count of refunds and the gauges of the installation show what a job has last read in the
 * database, and are absent before its first reading. `hasReadings` is false for a node without an engine, which never
 * reads.
 */
export function createBusinessMetrics(registry: Registry, version: string, hasReadings = true) {
  const registers = [registry];
  const readings = new Registry();
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers: [readings] });
  const counter = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
    new Counter({ name, help, labelNames: [...labelNames], registers });

  const countPush = createOutcomeCounter(registry, PUSH_OUTCOMES, {
    name: 'perennial_webhook_pushes_total',
    help: 'Pushes of events by outcome',
  });
  const givenUp = counter('perennial_webhook_given_up_total', 'Events that were given up after all retries', []);
  const debits = counter('perennial_debits_total', 'Debits by payment channel and outcome', [
    'payment_channel',
    'outcome',
  ]);
  const countClaim = createOutcomeCounter(registry, CLAIM_OUTCOMES, {
    name: 'perennial_claims_total',
    help: 'Claims on the redemption page by outcome',
  });
  const countRefunds = createOutcomeCounter(readings, ['success', 'refused'], {
    name: 'perennial_refunds_total',
    help: 'Refunds that were settled, of the whole installation',
  });

  const gauges = Object.entries(GAUGES).map(([field, [name, help]]) => {
    const made = gauge(name, help);
    return (reading: BusinessReading) => made.set(reading[field as keyof typeof GAUGES]);
  });
  const labeled = Object.entries(LABELED_GAUGES).map(([field, [name, help, label]]) => {
    const hasSeverity = field === 'alertsOpen';
    const labelNames = hasSeverity ? [label, 'severity'] : [label];
    const made = new Gauge({ name, help, labelNames, registers: [readings] });
    return (reading: BusinessReading) => {
      made.reset();
      for (const [of, value] of Object.entries(reading[field as keyof typeof LABELED_GAUGES])) {
        made.set({ [label]: of, ...(hasSeverity ? { severity: severityOf(of) } : {}) }, value);
      }
    };
  });
  const skew = gauge('perennial_clock_skew_seconds', "Seconds by which this node's clock is ahead of the database's");
  const build = new Gauge({
    name: 'perennial_build_info',
    help: 'Always 1; the version that runs',
    labelNames: ['version'],
    registers,
    aggregator: 'first',
  });
  build.set({ version }, 1);

  let readAt = performance.now();
  new Gauge({
    name: 'perennial_reading_age_seconds',
    help: 'Seconds since the gauges of the installation were last read',
    registers: hasReadings ? registers : [],
    collect() {
      this.set((performance.now() - readAt) / 1000);
    },
  });
  const loop = watchEventLoop();
  new Gauge({
    name: 'perennial_event_loop_lag_seconds',
    help: 'The longest event-loop delay in the last 15 to 30 seconds',
    registers,
    aggregator: 'max',
    collect() {
      this.set(loop.longestSeconds());
    },
  });

  /** Registers the gauges at the first reading, because a gauge without a value would show 0. */
  function publishReadings(): void {
    if (!hasReadings) return;
    for (const { name } of readings.getMetricsAsArray()) {
      const metric = readings.getSingleMetric(name);
      if (metric) registry.registerMetric(metric);
    }
  }

  const paymentChannels = createBoundedNames(MAX_NAMES);
  return {
    counts: {
      countDebit: (code, outcome) => debits.inc({ payment_channel: paymentChannels(code), outcome }),
      countClaim,
      countPush,
      countGivenUp: (events) => givenUp.inc(events),
    } satisfies SubscriptionCounts & DeliveryCounts,
    show(reading: BusinessReading): void {
      publishReadings();
      const silentSeconds: Record<string, number> = {};
      for (const [code, seconds] of Object.entries(reading.silentSeconds)) {
        const name = paymentChannels(code);
        // Payment channels beyond MAX_NAMES share a name. Shows the longest silence among them.
        silentSeconds[name] = Math.max(seconds, silentSeconds[name] ?? 0);
        // Creates the counters at 0, so that the first debit shows as an increase.
        for (const outcome of DEBIT_OUTCOMES) debits.inc({ payment_channel: name, outcome }, 0);
      }
      for (const show of [...gauges, ...labeled]) show({ ...reading, silentSeconds });
      countRefunds('success', reading.refunds.success);
      countRefunds('refused', reading.refunds.refused);
      readAt = performance.now();
    },
    /** Shows how far this node's clock is ahead of the database's clock. */
    showClockSkew: (seconds: number): void => skew.set(seconds),
    /** Stops measuring the event loop. */
    stop: (): void => loop.stop(),
  };
}

export type BusinessMetrics = ReturnType<typeof createBusinessMetrics>;

/** Counts in plain numbers, because `inc` with labels would add 1 µs to the 20 µs of a push. */
function createOutcomeCounter<Outcome extends string>(
  registry: Registry,
  outcomes: readonly Outcome[],
  about: { readonly name: string; readonly help: string },
): (outcome: Outcome, times?: number) => void {
  const counted = new Map<Outcome, number>(outcomes.map((outcome) => [outcome, 0]));
  new Counter({
    ...about,
    labelNames: ['outcome'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [outcome, times] of counted) this.inc({ outcome }, times);
    },
  });
  return (outcome, times = 1) => {
    counted.set(outcome, (counted.get(outcome) ?? 0) + times);
  };
}

function createBoundedNames(maxNames: number): (name: string) => string {
  const known = new Set<string>();
  return (name) => {
    if (known.size < maxNames) known.add(name);
    return known.has(name) ? name : OTHER;
  };
}

/** Shows the maximum of the current and the previous window, so that every scrape covers at least one whole window. */
function watchEventLoop() {
  const delays = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS });
  delays.enable();
  let before = 0;
  const longest = () => Math.max(0, delays.max / 1e9 - LOOP_RESOLUTION_MS / 1000);
  const timer = setInterval(() => {
    before = longest();
    delays.reset();
  }, LOOP_WINDOW_MS).unref();
  return {
    longestSeconds: () => Math.max(before, longest()),
    stop() {
      clearInterval(timer);
      delays.disable();
    },
  };
}
