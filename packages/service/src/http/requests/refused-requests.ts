import type { Diagnosis } from '@perennial/wire';
import type { Clock } from '../../platform/clock.js';

/** What was said about requests that this node refused, for whoever has their request id. In memory: a node forgets it when it stops. */
export interface RefusedRequests {
  add(requestId: string, diagnosis: Diagnosis): void;
  find(requestId: string): Diagnosis | undefined;
}

const MAX_KEPT = 200;
const KEPT_MS = 15 * 60_000;

export function createRefusedRequests(clock: Clock): RefusedRequests {
  // The oldest first.
  const kept = new Map<string, { readonly diagnosis: Diagnosis; readonly at: number }>();

  // By any clock, also one that was set back.
  const isOld = (at: number) => Math.abs(clock.now() - at) >= KEPT_MS;

  return {
    add(requestId, diagnosis) {
      kept.delete(requestId);
      kept.set(requestId, { diagnosis, at: clock.now() });
      for (const [id, { at }] of kept) if (kept.size > MAX_KEPT || isOld(at)) kept.delete(id);
    },
    find(requestId) {
      const found = kept.get(requestId);
      return found && !isOld(found.at) ? found.diagnosis : undefined;
    },
  };
}
