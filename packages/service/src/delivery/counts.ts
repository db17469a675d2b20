import type { DeliveryOutcome } from './queue/finish-sql.js';

export const PUSH_OUTCOMES = ['accepted', 'refused', 'timeout', 'unreachable', 'forbidden'] as const;
export type CountedPush = (typeof PUSH_OUTCOMES)[number];

/** Called with each push's outcome and its milliseconds. */
export type OnPush = (appId: string, outcome: DeliveryOutcome, ms: number) => void;

/** Counters of this node's deliveries. */
export interface DeliveryCounts {
  countPush(outcome: CountedPush): void;
  /** Counts events that were given up. */
  countGivenUp(events: number): void;
}
