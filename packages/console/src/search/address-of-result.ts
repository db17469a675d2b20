import { places } from '../address/places.ts';
import type { SearchResult } from '../api/types.ts';

/**
 * Returns the URL of a search result: its order if it belongs to one, otherwise its own page. Returns undefined for a
 * user whose id is masked for this operator.
 */
export function addressOfResult({ kind, id, orderNo, appId, channelUserId }: SearchResult): string | undefined {
  if (kind === 'channel') return places.channel(id);
  if (kind === 'product') return places.product(id);
  if (orderNo) return places.order(orderNo);
  return appId && channelUserId ? places.user(appId, channelUserId) : undefined;
}
