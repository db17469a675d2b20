/** What a query says of the page: its limit is digits, as everything in an address is text. */
export function readPageQuery({ cursor, limit }: { readonly cursor?: string; readonly limit?: string }): {
  readonly cursor: string | undefined;
  readonly limit: number | undefined;
} {
  return { cursor, limit: limit === undefined ? undefined : Number(limit) };
}
