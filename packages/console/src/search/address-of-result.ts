import { places } from '../address/places.ts';
import type { SearchResult } from '../api/types.ts';

/** Where a result leads: to its order where it belongs to one, else to its own page. */
export function addressOfResult({ kind, id, orderNo, appId, channelUserId }: SearchResult): string {
  if (kind === 'user') return places.user(appId ?? '', channelUserId ?? id);
  if (kind === 'channel') return places.channel(id);
  if (kind === 'product') return places.product(id);
  if (orderNo) return places.order(orderNo);
  return places.orders({ appId });
}
