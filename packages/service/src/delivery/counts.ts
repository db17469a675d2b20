import type { DeliveryOutcome } from './queue/finish-sql.js';

export const PUSH_OUTCOMES = ['accepted', 'refused', 'timeout', 'unreachable', 'forbidden'] as const;
export type CountedPush = (typeof PUSH_OUTCOMES)[number];

/** Called after each push. */
export type OnPush = (push: EndedPush) => void;

export interface EndedPush {
  readonly channelId: number;
  readonly appId: string;
  readonly url: string;
  readonly outcome: DeliveryOutcome;
  readonly ms: number;
}

/** Counters of this node's deliveries. */
export interface DeliveryCounts {
  countPush(outcome: CountedPush): void;
  /** Counts events that were given up. */
  countGivenUp(events: number): void;
}
