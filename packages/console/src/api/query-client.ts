import { QueryClient } from '@tanstack/react-query';
import { Unreachable } from './problem.ts';

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // A refusal stays one; an answer that did not come may come.
      retry: (failures, error) => error instanceof Unreachable && failures < 2,
      refetchOnWindowFocus: true,
    },
    mutations: { retry: false },
  },
});
