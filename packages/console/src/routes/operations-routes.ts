import { createRoute } from '@tanstack/react-router';
import { filtersOf } from '../address/filters.ts';
import { ALERT_FILTERS } from '../pages/alerts/filters.ts';
import { EVENT_FILTERS } from '../pages/events/filters.ts';
import { RECONCILIATION_FILTERS } from '../pages/reconciliation/filters.ts';
import { REQUEST_FILTERS } from '../pages/requests/filters.ts';
import { signedInRoute } from './frame-routes.ts';
import { lazyPage } from './lazy-page.ts';

const getParentRoute = () => signedInRoute;

/** Delivery, books and set-up. */
export const operationsRoutes = [
  createRoute({
    getParentRoute,
    path: '/events',
    validateSearch: filtersOf(EVENT_FILTERS),
    component: lazyPage(() => import('../pages/events/events-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/requests',
    validateSearch: filtersOf(REQUEST_FILTERS),
    component: lazyPage(() => import('../pages/requests/requests-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/alerts',
    validateSearch: filtersOf(ALERT_FILTERS),
    component: lazyPage(() => import('../pages/alerts/alerts-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/reconciliation',
    validateSearch: filtersOf(RECONCILIATION_FILTERS),
    component: lazyPage(() => import('../pages/reconciliation/reconciliation-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/settlement',
    validateSearch: filtersOf(['month']),
    component: lazyPage(() => import('../pages/settlement/settlement-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/channels',
    component: lazyPage(() => import('../pages/channels/channels-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/channels/$appId',
    validateSearch: filtersOf(['tab']),
    component: lazyPage(() => import('../pages/channels/channel-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/products',
    component: lazyPage(() => import('../pages/products/products-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/products/$productCode',
    component: lazyPage(() => import('../pages/products/product-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/payment-channels',
    validateSearch: filtersOf(['code']),
    component: lazyPage(() => import('../pages/payment-channels/payment-channels-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/benefits',
    validateSearch: filtersOf(['code']),
    component: lazyPage(() => import('../pages/benefits/benefits-page.tsx')),
  }),
] as const;
