import type { AnySchema, Endpoint, Static } from '@perennial/wire';
import type { Action } from '../catalog/action.js';
import type { Channel } from '../catalog/channels/channel.js';
import type { TextPieces } from '../platform/answers/answer.js';

/** One row of the route table. Whether it writes, needs a token and what it takes is said by the endpoint. */
export interface Route {
  readonly endpoint: Endpoint;
  /** The pipeline only calls it with what the endpoint's schema has let through. */
  readonly action: Action<unknown, unknown>;
  /** The data as JSON, of an action that only describes it. */
  readonly render?: Render<unknown>;
}

export type Render<Description> = (channel: Channel, description: Description) => string | TextPieces;

export function createRoute<Request extends AnySchema, Response extends AnySchema>(
  endpoint: Endpoint<string, Request, Response>,
  action: Action<Static<Request>, Static<Response>>,
): Route {
  return { endpoint, action: action as Action<unknown, unknown> };
}

/** For data that may be long or holds a signature: its description is what is stored, and what a replay is made of. */
export function createDescribedRoute<Request extends AnySchema, Description extends object>(
  endpoint: Endpoint<string, Request>,
  action: Action<Static<Request>, Description>,
  render: Render<Description>,
): Route {
  return { endpoint, action: action as Action<unknown, unknown>, render: render as Render<unknown> };
}
