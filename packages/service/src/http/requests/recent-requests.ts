import { type EarlierRequest, MAX_EARLIER_REQUESTS } from '@perennial/wire';

/** There are two of these lists, and a diagnosis tries as many as both have. */
const MAX_KEPT = MAX_EARLIER_REQUESTS / 2;

/** The headers of the last requests of each channel on this node: somebody may have signed those of another request. */
export function createRecentRequests() {
  /** Of each channel a ring, where the next one takes the place of the oldest. */
  const rings = new Map<string, { readonly kept: EarlierRequest[]; next: number }>();

  return {
    add(appId: string, { timestamp, nonce, requestId }: EarlierRequest): void {
      const ring = rings.get(appId) ?? { kept: [], next: 0 };
      rings.set(appId, ring);
      ring.kept[ring.next] = { timestamp, nonce, requestId };
      ring.next = (ring.next + 1) % MAX_KEPT;
    },
    list: (appId: string): readonly EarlierRequest[] => rings.get(appId)?.kept ?? [],
  };
}
