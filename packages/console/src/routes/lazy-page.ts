import { lazyRouteComponent } from '@tanstack/react-router';
import type { ComponentType } from 'react';
import { PageMissing } from '../api/problem.ts';

/**
 * A page that is loaded when it is opened. The router would load the whole console anew if its file does not come, and without a
 * connection nothing would be left: so the router sees another error, and `stale-build.ts` decides.
 */
export const lazyPage = (load: () => Promise<{ default: ComponentType }>) =>
  lazyRouteComponent(() =>
    load().catch((cause: unknown) => {
      throw new PageMissing('The files of the page did not come', { cause });
    }),
  );
