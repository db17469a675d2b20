import { ENDPOINTS, type Endpoint, PATH_PREFIX } from '@perennial/wire';
import type { Action } from '../../src/catalog/action.js';
import type { Route } from '../../src/http/routes.js';

/** A valid answer of the endpoint that testRoute creates. */
export const DONE = { accessToken: 'none', expiresIn: '0', expiresAt: '2026-01-31 12:00:00' };

/** Creates an additional endpoint that takes the body of orders/unsubscribe and runs a test's action. */
export function testRoute(name: string, action: Action<unknown, unknown>, facts: Partial<Endpoint> = {}): Route {
  const { request, check } = ENDPOINTS['orders/unsubscribe'];
  const { response } = ENDPOINTS['auth/token'];
  const endpoint: Endpoint = {
    name,
    path: `${PATH_PREFIX}${name}`,
    summary: 'For a test',
    token: true,
    write: false,
    request,
    response,
    ...(check ? { check } : {}),
    codes: [],
    ...facts,
  };
  return { endpoint, action };
}
