export const PUSH_OUTCOMES = ['accepted', 'refused', 'timeout', 'unreachable', 'forbidden'] as const;
export type CountedPush = (typeof PUSH_OUTCOMES)[number];

/** Counters of this node's deliveries. */
export interface DeliveryCounts {
  countPush(outcome: CountedPush): void;
  /** Counts events that were given up. */
  countGivenUp(events: number): void;
}
