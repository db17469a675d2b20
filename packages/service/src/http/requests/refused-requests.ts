import type { Diagnosis } from '@perennial/wire';
import type { Clock } from '../../platform/clock.js';

const MAX_KEPT = 200;
/**
 * The maximum number of diagnoses of one channel in memory, so that they do not push out the diagnoses of other
 * channels.
 */
const MAX_OF_CHANNEL = 50;
const KEPT_MS = 15 * 60_000;

/** Keeps the diagnoses of requests that this node refused, by request id. In memory only. */
export function createRefusedRequests(clock: Clock) {
  const kept = new Map<string, { readonly appId: string; readonly diagnosis: Diagnosis; readonly at: number }>();

  // Compares the absolute difference, because the clock may have been set back.
  const isOld = (at: number) => Math.abs(clock.now() - at) >= KEPT_MS;

  return {
    add(appId: string, requestId: string, diagnosis: Diagnosis): void {
      kept.delete(requestId);
      for (const [id, { at }] of kept) if (isOld(at)) kept.delete(id);
      const ofChannel = [...kept].filter(([, one]) => one.appId === appId).map(([id]) => id);
      const [oldest] = ofChannel.length >= MAX_OF_CHANNEL ? ofChannel : kept.size >= MAX_KEPT ? kept.keys() : [];
      if (oldest !== undefined) kept.delete(oldest);
      kept.set(requestId, { appId, diagnosis, at: clock.now() });
    },
    find(requestId: string): Diagnosis | undefined {
      const found = kept.get(requestId);
      return found && !isOld(found.at) ? found.diagnosis : undefined;
    },
  };
}

export type RefusedRequests = ReturnType<typeof createRefusedRequests>;
export type FindRefused = RefusedRequests['find'];
