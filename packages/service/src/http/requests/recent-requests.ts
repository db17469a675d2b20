import { type EarlierRequest, MAX_EARLIER_REQUESTS } from '@perennial/wire';

/** There are two of these lists, and a diagnosis tries as many as both have. */
const MAX_KEPT = MAX_EARLIER_REQUESTS / 2;

/** The headers of the last requests of each channel on this node: somebody may have signed those of another request. */
export interface RecentRequests {
  add(appId: string, request: EarlierRequest): void;
  list(appId: string): readonly EarlierRequest[];
}

export function createRecentRequests(): RecentRequests {
  /** Of each channel a ring, where the next one takes the place of the oldest. */
  const rings = new Map<string, { readonly kept: EarlierRequest[]; next: number }>();

  function createRing(appId: string) {
    const ring = { kept: [], next: 0 };
    rings.set(appId, ring);
    return ring;
  }

  return {
    add(appId, { timestamp, nonce, requestId }) {
      const ring = rings.get(appId) ?? createRing(appId);
      ring.kept[ring.next] = { timestamp, nonce, requestId };
      ring.next = (ring.next + 1) % MAX_KEPT;
    },
    list: (appId) => rings.get(appId)?.kept ?? [],
  };
}
