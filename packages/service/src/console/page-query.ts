import type { PageInput } from '../operator/paging.js';

/** What a query says of the page: its limit is digits, as everything in an address is text. */
export function readPageQuery({ cursor, limit }: { readonly cursor?: string; readonly limit?: string }): PageInput {
  return { cursor, limit: limit === undefined ? undefined : Number(limit) };
}
