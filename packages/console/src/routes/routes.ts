import { createRoute } from '@tanstack/react-router';
import { filtersOf } from '../address/filters.ts';
import { AUDIT_FILTERS } from '../pages/audit/filters.ts';
import { OVERVIEW_FILTERS } from '../pages/overview/filters.ts';
import { NotFoundPage } from '../parts/states.tsx';
import { rootRoute, signedInRoute } from './frame-routes.ts';
import { lazyPage } from './lazy-page.ts';
import { operationsRoutes } from './operations-routes.ts';
import { orderRoutes } from './order-routes.ts';

const signIn = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: filtersOf(['to', 'problem']),
  component: lazyPage(() => import('../pages/sign-in/sign-in-page.tsx')),
});
const setup = createRoute({
  getParentRoute: () => rootRoute,
  path: '/setup',
  component: lazyPage(() => import('../pages/setup/setup-page.tsx')),
});

const overview = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/',
  validateSearch: filtersOf(OVERVIEW_FILTERS),
  component: lazyPage(() => import('../pages/overview/overview-page.tsx')),
});
const account = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/account',
  component: lazyPage(() => import('../pages/account/account-page.tsx')),
});
const people = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/people',
  component: lazyPage(() => import('../pages/people/people-page.tsx')),
});
const audit = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/audit',
  validateSearch: filtersOf(AUDIT_FILTERS),
  component: lazyPage(() => import('../pages/audit/audit-page.tsx')),
});

const unknown = createRoute({ getParentRoute: () => signedInRoute, path: '$', component: NotFoundPage });

export const routeTree = rootRoute.addChildren([
  signIn,
  setup,
  signedInRoute.addChildren([overview, ...orderRoutes, ...operationsRoutes, account, people, audit, unknown]),
]);
