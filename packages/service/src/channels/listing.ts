import { DEFAULT_PAGE, DEFAULT_PAGE_SIZE, type PagingRequest, pageOf } from '@perennial/wire';
import type { Action } from '../action.js';
import type { Answer } from '../answer.js';
import type { Queryable } from '../db/database.js';

interface Page<Item> {
  items: Item[];
  page: number;
  size: number;
  hasMore: boolean;
}

/**
 * A list of what a channel is provisioned with. Such a list changes only together with the channel's version, and
 * admission has just compared that, so the whole default page is answered from memory as long as it is the same.
 */
export function provisionedList<Item>(
  read: (db: Queryable, channelId: number, limit: number, offset: number) => Promise<Item[]>,
): Action<PagingRequest, Page<Item>> {
  const remembered = new Map<number, { readonly version: number; readonly answer: Answer }>();
  return async ({ channel, database, answer }, request) => {
    const { page, size } = pageOf(request);
    const isDefault = page === DEFAULT_PAGE && size === DEFAULT_PAGE_SIZE;
    const known = isDefault ? remembered.get(channel.channelId) : undefined;
    if (known?.version === channel.version) return known.answer;
    // One more than asked tells whether there is another page.
    const items = await read(database, channel.channelId, size + 1, (page - 1) * size);
    const fresh = answer({ items: items.slice(0, size), page, size, hasMore: items.length > size });
    if (isDefault) remembered.set(channel.channelId, { version: channel.version, answer: fresh });
    return fresh;
  };
}
