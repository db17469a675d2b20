import { places } from '../address/places.ts';
import type { SearchResult } from '../api/types.ts';

/**
 * Returns the URL of the page that a search result opens. A channel or a product has its own page. Any other result
 * opens the page of its order or, if it has no order, of its user. Returns undefined if the result names neither, for
 * example for a user whose id is masked for this operator.
 */
export function addressOfResult({ kind, id, orderNo, appId, channelUserId }: SearchResult): string | undefined {
  if (kind === 'channel') return places.channel(id);
  if (kind === 'product') return places.product(id);
  if (orderNo) return places.order(orderNo);
  return appId && channelUserId ? places.user(appId, channelUserId) : undefined;
}
