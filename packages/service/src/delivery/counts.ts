export const PUSH_OUTCOMES = ['accepted', 'refused', 'timeout', 'unreachable', 'forbidden'] as const;
export type CountedPush = (typeof PUSH_OUTCOMES)[number];

/** Counters of this node's deliveries, incremented after the commit. */
export interface DeliveryCounts {
  countPush(outcome: CountedPush): void;
  /** Counts events that are not sent any more. */
  countGivenUp(events: number): void;
}
