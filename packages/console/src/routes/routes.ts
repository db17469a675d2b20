import type { QueryClient } from '@tanstack/react-query';
import { createRootRouteWithContext, createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import type { ComponentType } from 'react';
import { type Filters, filtersOf } from '../address/filters.ts';
import { channelsQuery, orderQuery, productsQuery } from '../api/catalog.ts';
import { isProblem, PageMissing } from '../api/problem.ts';
import { pagesQuery } from '../api/use-pages.ts';
import { Shell } from '../frame/shell.tsx';
import { ALERT_FILTERS } from '../pages/alerts/filters.ts';
import { APPROVALS_FILTERS } from '../pages/approvals/filters.ts';
import { AUDIT_FILTERS } from '../pages/audit/filters.ts';
import { RUN_FILTERS } from '../pages/bulk/filters.ts';
import { CELLS_FILTERS } from '../pages/cells/filters.ts';
import { EVENT_FILTERS } from '../pages/events/filters.ts';
import { ORDER_FILTERS } from '../pages/order/timeline/filters.ts';
import { ORDERS_FILTERS } from '../pages/orders/filters.ts';
import { OVERVIEW_FILTERS } from '../pages/overview/filters.ts';
import { PAYMENTS_FILTERS } from '../pages/payments/filters.ts';
import { RECONCILIATION_FILTERS } from '../pages/reconciliation/filters.ts';
import { REQUEST_FILTERS } from '../pages/requests/filters.ts';
import { LINE_FILTERS, SETTLEMENT_FILTERS } from '../pages/settlement/filters.ts';
import { USER_FILTERS } from '../pages/user/filters.ts';
import { NotFoundPage } from '../parts/states.tsx';
import { sessionQuery } from '../session/session.ts';

const rootRoute = createRootRouteWithContext<{ readonly queryClient: QueryClient }>()();

/** The parent of all pages that need a session. Visitors without a session sign in first and then get the page. */
const signedInRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'in',
  component: Shell,
  beforeLoad: async ({ context, location }) => {
    try {
      await context.queryClient.ensureQueryData(sessionQuery);
    } catch (error) {
      if (isProblem(error, 401)) throw redirect({ to: '/sign-in', search: { to: location.href } });
      throw error;
    }
  },
});

type LoadPage = () => Promise<{ default: ComponentType }>;

/**
 * Loads a page when it is opened. If the import fails, throws PageMissing instead of the browser's error. After the
 * browser's error the router would reload the whole console, and offline the window would then be empty.
 * `stale-build.ts` decides about a reload instead.
 */
const lazyPage = (load: LoadPage) =>
  lazyRouteComponent(() =>
    load().catch((cause: unknown) => {
      throw new PageMissing('The files of the page could not be loaded', { cause });
    }),
  );

/**
 * Creates the route of a page that needs a session. `filters` are the filters that its URL can have. `prefetch` starts
 * the page's first requests, which then run while the page's script loads.
 */
const page = <const Path extends string, const Filter extends string = never>(
  path: Path,
  load: LoadPage,
  filters: readonly Filter[] = [],
  prefetch?: (client: QueryClient, values: Filters<Filter>, params: Readonly<Record<string, string>>) => void,
) =>
  createRoute({
    getParentRoute: () => signedInRoute,
    path,
    validateSearch: filtersOf(filters),
    beforeLoad: ({ context, search, params, preload }) => {
      if (!preload) prefetch?.(context.queryClient, search, params);
    },
    component: lazyPage(load),
  });

export const routeTree = rootRoute.addChildren([
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/sign-in',
    validateSearch: filtersOf(['to', 'problem']),
    component: lazyPage(() => import('../pages/sign-in/sign-in-page.tsx')),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/setup',
    component: lazyPage(() => import('../pages/setup/setup-page.tsx')),
  }),
  signedInRoute.addChildren([
    page('/', () => import('../pages/overview/overview-page.tsx'), OVERVIEW_FILTERS),
    page('/cells', () => import('../pages/cells/cells-page.tsx'), CELLS_FILTERS),
    page(
      '/orders',
      () => import('../pages/orders/orders-page.tsx'),
      ORDERS_FILTERS,
      (client, values) => {
        void client.prefetchInfiniteQuery(pagesQuery('/orders', values));
        void client.prefetchQuery(productsQuery);
        void client.prefetchQuery(channelsQuery);
      },
    ),
    page(
      '/orders/$orderNo',
      () => import('../pages/order/order-page.tsx'),
      ORDER_FILTERS,
      (client, _, { orderNo = '' }) => void client.prefetchQuery(orderQuery(orderNo)),
    ),
    page('/users', () => import('../pages/user/user-page.tsx'), USER_FILTERS),
    page('/payments', () => import('../pages/payments/payments-page.tsx'), PAYMENTS_FILTERS),
    page('/bulk', () => import('../pages/bulk/bulk-page.tsx')),
    page('/bulk/$runId', () => import('../pages/bulk/run-page.tsx'), RUN_FILTERS),
    page('/approvals', () => import('../pages/approvals/approvals-page.tsx'), APPROVALS_FILTERS),
    page('/mentions', () => import('../pages/mentions/mentions-page.tsx')),
    page('/events', () => import('../pages/events/events-page.tsx'), EVENT_FILTERS),
    page('/health', () => import('../pages/health/health-page.tsx'), ['range']),
    page('/requests', () => import('../pages/requests/requests-page.tsx'), REQUEST_FILTERS),
    page('/alerts', () => import('../pages/alerts/alerts-page.tsx'), ALERT_FILTERS),
    page('/reconciliation', () => import('../pages/reconciliation/reconciliation-page.tsx'), RECONCILIATION_FILTERS),
    page('/settlement', () => import('../pages/settlement/settlement-page.tsx'), SETTLEMENT_FILTERS),
    page('/settlement/lines', () => import('../pages/settlement/lines-page.tsx'), LINE_FILTERS),
    page('/channels', () => import('../pages/channels/channels-page.tsx')),
    page('/channels/$appId', () => import('../pages/channels/channel-page.tsx'), ['tab']),
    page('/products', () => import('../pages/products/products-page.tsx')),
    page('/products/$productCode', () => import('../pages/products/product-page.tsx')),
    page('/payment-channels', () => import('../pages/payment-channels/payment-channels-page.tsx'), ['code']),
    page('/benefits', () => import('../pages/benefits/benefits-page.tsx'), ['code']),
    page('/account', () => import('../pages/account/account-page.tsx')),
    page('/people', () => import('../pages/people/people-page.tsx')),
    page('/audit', () => import('../pages/audit/audit-page.tsx'), AUDIT_FILTERS),
    createRoute({ getParentRoute: () => signedInRoute, path: '$', component: NotFoundPage }),
  ]),
]);
