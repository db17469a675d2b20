import { type EarlierRequest, MAX_EARLIER_REQUESTS } from '@perennial/wire';

/** There are two of these lists, and a diagnosis tries as many as both have. */
const MAX_KEPT = MAX_EARLIER_REQUESTS / 2;

/** The headers of the last requests of each channel on this node: somebody may have signed those of another request. */
export interface RecentRequests {
  add(appId: string, request: EarlierRequest): void;
  list(appId: string): readonly EarlierRequest[];
}

export function createRecentRequests(): RecentRequests {
  const recent = new Map<string, EarlierRequest[]>();
  return {
    add(appId, { timestamp, nonce, requestId }) {
      const known = recent.get(appId) ?? [];
      if (known.push({ timestamp, nonce, requestId }) > MAX_KEPT) known.shift();
      recent.set(appId, known);
    },
    list: (appId) => recent.get(appId) ?? [],
  };
}
