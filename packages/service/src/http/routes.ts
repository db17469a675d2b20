import type { AnySchema, Endpoint, Static } from '@perennial/wire';
import type { Action } from '../catalog/action.js';
import type { Channel } from '../catalog/channels/channel.js';
import type { TextPieces } from '../platform/answers/answer.js';

/** One row of the route table. Whether it writes, needs a token and what it takes is said by the endpoint. */
export interface Route {
  readonly endpoint: Endpoint;
  /** Called only with bodies that are valid by the endpoint's schema. */
  readonly action: Action<unknown, unknown>;
  /** Makes the JSON of the data from its description, for actions that answer a description. */
  readonly render?: Render<unknown>;
}

export type Render<Description> = (channel: Channel, description: Description) => string | TextPieces;

export function createRoute<Request extends AnySchema, Response extends AnySchema>(
  endpoint: Endpoint<string, Request, Response>,
  action: Action<Static<Request>, Static<Response>>,
): Route {
  return { endpoint, action: action as Action<unknown, unknown> };
}

/** For data that may be long or holds a signature: its description is stored, and a replay is made from that. */
export function createDescribedRoute<Request extends AnySchema, Description extends object>(
  endpoint: Endpoint<string, Request>,
  action: Action<Static<Request>, Description>,
  render: Render<Description>,
): Route {
  return { endpoint, action: action as Action<unknown, unknown>, render: render as Render<unknown> };
}
