import type { QueryClient } from '@tanstack/react-query';
import { createRootRouteWithContext, createRoute, redirect } from '@tanstack/react-router';
import { isProblem } from '../api/problem.ts';
import type { Role } from '../api/types.ts';
import { Shell } from '../frame/shell.tsx';
import { sessionQuery } from '../session/session.ts';

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    /** Who may open the page; a viewer, unless it says so. */
    readonly role?: Role | readonly Role[];
  }
}

export const rootRoute = createRootRouteWithContext<{ readonly queryClient: QueryClient }>()();

/** Pages of somebody who is signed in hang below this one. Whoever is not signs in first, and comes back. */
export const signedInRoute = createRoute({
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
