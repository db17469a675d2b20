import { MutationCache, QueryClient } from '@tanstack/react-query';
import { Unreachable } from './problem.ts';

/** What waits for somebody: any change may be one of that. */
export const WAITING_KEY = '/waiting';

export const queryClient: QueryClient = new QueryClient({
  mutationCache: new MutationCache({
    onSuccess: () => void queryClient.invalidateQueries({ queryKey: [WAITING_KEY] }),
  }),
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // A refusal stays one; an answer that did not come may come.
      retry: (failures, error) => error instanceof Unreachable && failures < 2,
      refetchOnWindowFocus: true,
      // Otherwise a query waits in silence while the browser is offline, and a change is sent whenever it is back.
      networkMode: 'always',
      refetchOnReconnect: 'always',
    },
    mutations: { retry: false, networkMode: 'always' },
  },
});
