import type { Endpoint } from '@perennial/wire';
import type { Static, TSchema } from 'typebox';
import type { Action } from '../action.js';

/** One row of the route table. Whether it writes, needs a token and what it takes is said by the endpoint. */
export interface Route {
  readonly endpoint: Endpoint;
  /** The pipeline only calls it with what the endpoint's schema has let through. */
  readonly action: Action<unknown, unknown>;
}

export function route<Request extends TSchema, Response extends TSchema>(
  endpoint: Endpoint<string, Request, Response>,
  action: Action<Static<Request>, Static<Response>>,
): Route {
  return { endpoint, action: action as Action<unknown, unknown> };
}
