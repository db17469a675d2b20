import { createRoute } from '@tanstack/react-router';
import { filtersOf } from '../address/filters.ts';
import { APPROVALS_FILTERS } from '../pages/approvals/filters.ts';
import { RUN_FILTERS } from '../pages/bulk/filters.ts';
import { ORDER_FILTERS } from '../pages/order/filters.ts';
import { ORDERS_FILTERS } from '../pages/orders/filters.ts';
import { PAYMENTS_FILTERS } from '../pages/payments/filters.ts';
import { USER_FILTERS } from '../pages/user/filters.ts';
import { signedInRoute } from './frame-routes.ts';
import { lazyPage } from './lazy-page.ts';

const orders = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/orders',
  validateSearch: filtersOf(ORDERS_FILTERS),
  component: lazyPage(() => import('../pages/orders/orders-page.tsx')),
});
const order = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/orders/$orderNo',
  validateSearch: filtersOf(ORDER_FILTERS),
  component: lazyPage(() => import('../pages/order/order-page.tsx')),
});
const user = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/users',
  validateSearch: filtersOf(USER_FILTERS),
  component: lazyPage(() => import('../pages/user/user-page.tsx')),
});
const payments = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/payments',
  validateSearch: filtersOf(PAYMENTS_FILTERS),
  component: lazyPage(() => import('../pages/payments/payments-page.tsx')),
});
const bulk = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/bulk',
  component: lazyPage(() => import('../pages/bulk/bulk-page.tsx')),
});
const bulkRun = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/bulk/$runId',
  validateSearch: filtersOf(RUN_FILTERS),
  component: lazyPage(() => import('../pages/bulk/run-page.tsx')),
});
const approvals = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/approvals',
  validateSearch: filtersOf(APPROVALS_FILTERS),
  component: lazyPage(() => import('../pages/approvals/approvals-page.tsx')),
});

export const orderRoutes = [orders, order, user, payments, bulk, bulkRun, approvals] as const;
