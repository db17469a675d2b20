import { MutationCache, QueryClient } from '@tanstack/react-query';
import { Unreachable } from './problem.ts';

/** Queries of the waiting counts. Any change may affect them. */
export const WAITING_KEY = '/waiting';

export const queryClient: QueryClient = new QueryClient({
  mutationCache: new MutationCache({
    onSuccess: () => void queryClient.invalidateQueries({ queryKey: [WAITING_KEY] }),
  }),
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // Refusals are final; missing answers are retried.
      retry: (failures, error) => error instanceof Unreachable && failures < 2,
      refetchOnWindowFocus: true,
      // Otherwise queries wait silently while the browser is offline, and changes are sent later without notice.
      networkMode: 'always',
      refetchOnReconnect: 'always',
    },
    mutations: { retry: false, networkMode: 'always' },
  },
});
