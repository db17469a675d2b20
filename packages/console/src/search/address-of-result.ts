import { places } from '../address/places.ts';
import type { SearchResult } from '../api/types.ts';
import type { LinkResult } from './link-result.tsx';

/**
 * Returns the URL of the page that a search result opens. A channel or a product has its own page. Any other result
 * opens the page of its order, at the period that it names, or, if it has no order, of its user. Returns undefined if the result names neither, for
 * example for a user whose id is masked for this operator.
 */
export function addressOfResult({
  kind,
  id,
  orderNo,
  appId,
  channelUserId,
}: SearchResult | LinkResult): string | undefined {
  if (kind === 'channel') return places.channel(id);
  if (kind === 'product') return places.product(id);
  if (orderNo) return places.order(orderNo, periodOf(id, orderNo));
  return appId && channelUserId ? places.user(appId, channelUserId) : undefined;
}

/** Returns the period in the number of a payment or an attempt: the four digits after the order number. */
function periodOf(id: string, orderNo: string): string | undefined {
  const digits = id.startsWith(orderNo) ? /^\d{4}/.exec(id.slice(orderNo.length))?.[0] : undefined;
  return digits && String(Number(digits));
}
