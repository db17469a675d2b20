import type { AnySchema, Endpoint, Static } from '@perennial/wire';
import type { Action } from '../catalog/action.js';
import type { Channel } from '../catalog/channels/channel.js';
import type { TextPieces } from '../platform/answers/answer.js';

/** One row of the route table. Whether it writes, needs a token and what it takes is said by the endpoint. */
export interface Route<Name extends string = string> {
  readonly endpoint: Endpoint<Name>;
  /** Called only with bodies that are valid by the endpoint's schema. */
  readonly action: Action<unknown, unknown>;
  /** Makes the JSON of the data from its description, for actions that answer a description. */
  readonly render?: Render<unknown>;
}

export type Render<Description> = (channel: Channel, description: Description) => string | TextPieces;

export function createRoute<Name extends string, Request extends AnySchema, Response extends AnySchema>(
  endpoint: Endpoint<Name, Request, Response>,
  action: Action<Static<Request>, Static<Response>>,
): Route<Name> {
  return { endpoint, action: action as Action<unknown, unknown> };
}

/** For data that may be long or holds a signature: its description is stored, and a replay is made from that. */
export function createDescribedRoute<Name extends string, Request extends AnySchema, Description extends object>(
  endpoint: Endpoint<Name, Request>,
  action: Action<Static<Request>, Description>,
  render: Render<Description>,
): Route<Name> {
  return { endpoint, action: action as Action<unknown, unknown>, render: render as Render<unknown> };
}
