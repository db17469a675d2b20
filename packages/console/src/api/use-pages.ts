import { infiniteQueryOptions, keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { type Answer, api, type PathOf, type QueryOf } from './client.ts';

type ListPath = {
  [Path in PathOf<'GET'>]: Answer<'GET', Path> extends { nextCursor: string | null } ? Path : never;
}[PathOf<'GET'>];

/** The query of a list, which `usePages` reads. */
export const pagesQuery = <Path extends ListPath>(path: Path, query: QueryOf<Path>) =>
  infiniteQueryOptions({
    queryKey: [path, query],
    queryFn: ({ pageParam, signal }) => api.get(path, { ...query, cursor: pageParam }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page: Answer<'GET', Path>) => page.nextCursor ?? undefined,
  });

/**
 * Loads a list page by page. Each page begins after the last row of the previous page. `rowsOf` returns the rows of an
 * answer: `usePages('/audit', filters.values, (page) => page.entries)`.
 */
export function usePages<Path extends ListPath, Row>(
  path: Path,
  query: QueryOf<Path>,
  rowsOf: (answer: Answer<'GET', Path>) => readonly Row[],
  options: { readonly refetchInterval?: number } = {},
) {
  const found = useInfiniteQuery({
    ...pagesQuery(path, query),
    placeholderData: keepPreviousData,
    ...options,
  });
  return {
    rows: found.data?.pages.flatMap((page) => [...rowsOf(page)]),
    /** The whole answer with the first page, for callers that need its fields other than the rows. */
    answer: found.data?.pages[0],
    error: found.error,
    isRefreshing: found.isPlaceholderData,
    hasMore: found.hasNextPage,
    isLoadingMore: found.isFetchingNextPage,
    loadMore: () => void found.fetchNextPage(),
    reload: () => void found.refetch(),
  };
}

export type PagedList<Row> = Omit<ReturnType<typeof usePages<ListPath, Row>>, 'answer'>;
