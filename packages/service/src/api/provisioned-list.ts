import { DEFAULT_PAGE, DEFAULT_PAGE_SIZE, type EndpointName, type PagingRequest } from '@perennial/wire';
import type { Action } from '../catalog/action.js';
import type { AuthorizationKey, Authorized } from '../catalog/channels/authorized-sql.js';
import { CODE_PATTERN } from '../catalog/products/catalog.js';
import type { Answer } from '../platform/answers/answer.js';
import type { Queryable } from '../platform/db/database.js';
import { type ListDefinition, type ListPosition, type PageData, readListPage } from '../platform/lists/list-page.js';

type ProvisionedPage<Item> = PageData & { items: Item[] };

/**
 * Lists the products or payment channels of a channel. The list changes only with the channel's version, which
 * admission has just compared. So the default page is answered from memory until the version changes.
 */
export function createProvisionedListAction<Item extends Authorized>(
  endpoint: EndpointName,
  codeOf: (item: Item) => string,
  read: (db: Queryable, channelId: number, limit: number, place: ListPosition<AuthorizationKey>) => Promise<Item[]>,
): Action<PagingRequest, ProvisionedPage<Item>> {
  const list: ListDefinition<Item, AuthorizationKey> = {
    endpoint,
    isKey: (parts): parts is AuthorizationKey =>
      parts.length === 2 &&
      Number.isSafeInteger(parts[0]) &&
      typeof parts[1] === 'string' &&
      CODE_PATTERN.test(parts[1]),
    keyOf: (item) => [item.authorizedMicros, codeOf(item)],
  };
  const remembered = new Map<number, { readonly version: number; readonly answer: Answer }>();
  return async ({ channel, database, answer }, request) => {
    const { channelId, version } = channel;
    const { cursor, page = DEFAULT_PAGE, size = DEFAULT_PAGE_SIZE } = request;
    const isDefault = cursor === undefined && page === DEFAULT_PAGE && size === DEFAULT_PAGE_SIZE;
    const known = isDefault ? remembered.get(channelId) : undefined;
    if (known?.version === version) return known.answer;
    const { rows, paging } = await readListPage(list, { database, channelId }, {}, request, (db, limit, place) =>
      read(db, channelId, limit, place),
    );
    const fresh = answer({ items: rows, ...paging });
    if (isDefault) remembered.set(channelId, { version, answer: fresh });
    return fresh;
  };
}
