import { stringifySearch } from '../address/search-text.ts';
import type { SearchResult } from '../api/types.ts';

/** Where a result leads: to its order where it belongs to one, else to its own page. */
export function addressOfResult({ kind, id, orderNo, appId, channelUserId }: SearchResult): string {
  if (kind === 'user') return `/user${stringifySearch({ appId, channelUserId: channelUserId ?? id })}`;
  if (kind === 'channel') return `/channels/${encodeURIComponent(id)}`;
  if (kind === 'product') return `/products/${encodeURIComponent(id)}`;
  if (orderNo) return `/orders/${encodeURIComponent(orderNo)}`;
  return `/orders${stringifySearch({ appId })}`;
}
