import { MutationCache, notifyManager, QueryClient } from '@tanstack/react-query';
import { Unreachable } from './problem.ts';

/**
 * The key of the queries that count the waiting items. They are repeated after every change, because any change may
 * affect the counts.
 */
export const WAITING_KEY = '/waiting';

// Disables a form's button before the next click. With the default, a timer, the second click of a fast double click
// submitted the form again.
notifyManager.setScheduler(queueMicrotask);

export const queryClient: QueryClient = new QueryClient({
  mutationCache: new MutationCache({
    onSuccess: () => void queryClient.invalidateQueries({ queryKey: [WAITING_KEY] }),
  }),
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // Retries only if there was no answer: a refusal would be the same again.
      retry: (failures, error) => error instanceof Unreachable && failures < 2,
      refetchOnWindowFocus: true,
      // By default queries would wait silently while offline, and changes would be sent later without notice.
      networkMode: 'always',
      refetchOnReconnect: 'always',
    },
    mutations: { retry: false, networkMode: 'always' },
  },
});
