interface Assumptions {
  readonly orders: number;
  readonly cells: number;
  readonly skew: number;
  readonly debited: number;
  readonly period: 'MONTH' | 'DAY';
  readonly campaigns: number;
  readonly pace: number;
  readonly stepMinutes: number;
  readonly seed: number;
}

/** The service's rules: `periodDueAt`, and the delays of retries by period type. */
interface Service {
  periodDueAt(anchor: number, cadence: { periodType: 'MONTH' | 'DAY'; period: number }, cycleNo: number): number;
  readonly retryDelays: Readonly<Record<'MONTH' | 'DAY', readonly number[]>>;
}

type Simulated = { readonly __simulated: unique symbol };

interface Summary {
  readonly renewals: number;
  readonly debits: number;
  readonly busiest: string;
  readonly longestWait: number;
  /** Days that ended with a renewal that was due and not debited. */
  readonly daysWithRest: number;
  /** The renewals that fell due on each day. */
  readonly days: readonly number[];
}

export function simulate(options: Partial<Assumptions>, service: Service): Simulated;
export function neededPace(options: Partial<Assumptions>, service: Service): number;
export function summary(simulated: Simulated): Summary;
export function plotOf(simulated: Simulated): string;
