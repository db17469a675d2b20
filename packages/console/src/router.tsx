import { createRouter } from '@tanstack/react-router';
import { parseSearch, stringifySearch } from './address/search-text.ts';
import { PageMissing } from './api/problem.ts';
import { queryClient } from './api/query-client.ts';
import { Broken, Loading, NotFoundPage } from './parts/states.tsx';
import { routeTree } from './routes/routes.ts';
import { reloadIfFilesAreMissing, reloadPage } from './stale-build.ts';

export const router = createRouter({
  routeTree,
  basepath: import.meta.env.BASE_URL,
  context: { queryClient },
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  // The router caches nothing, because the query client caches the data.
  defaultPreloadStaleTime: 0,
  // Mounts the page of another order or channel again. Otherwise it would keep what was typed or shown on the former
  // page if its data is cached.
  defaultRemountDeps: ({ params }) => params,
  scrollRestoration: true,
  defaultPendingComponent: Loading,
  defaultPendingMs: 300,
  defaultNotFoundComponent: NotFoundPage,
  defaultOnCatch: reloadIfFilesAreMissing,
  defaultErrorComponent: ({ error, reset }) => (
    <Broken error={error} onRetry={error instanceof PageMissing ? reloadPage : reset} />
  ),
});

declare module '@tanstack/react-router' {
  interface Register {
    readonly router: typeof router;
  }
}
