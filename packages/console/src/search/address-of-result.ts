import { places } from '../address/places.ts';
import type { SearchResult } from '../api/types.ts';

/**
 * Where a result leads: to its order where it belongs to one, else to its own page. Nowhere, of a user whose id is not shown in
 * clear to those who search.
 */
export function addressOfResult({ kind, id, orderNo, appId, channelUserId }: SearchResult): string | undefined {
  if (kind === 'channel') return places.channel(id);
  if (kind === 'product') return places.product(id);
  if (orderNo) return places.order(orderNo);
  return appId && channelUserId ? places.user(appId, channelUserId) : undefined;
}
