import type { AnySchema, Endpoint, Static } from '@perennial/wire';
import type { Action, ActionContext } from '../catalog/action.js';
import type { Channel } from '../catalog/channels/channel.js';
import type { Answer, TextPieces } from '../platform/answers/answer.js';
import type { OrderText } from '../subscriptions/store/orders/order-texts-sql.js';
import type { OrderReference } from '../subscriptions/store/orders/orders-sql.js';

/** One row of the route table. Whether it writes, needs a token and what it takes is said by the endpoint. */
export interface Route<Name extends string = string> {
  readonly endpoint: Endpoint<Name>;
  /** Called only with bodies that are valid by the endpoint's schema. */
  readonly action: OrderAction<unknown, unknown>;
  /** The order that such a body asks for, which is then read in the statement that admits the request. */
  readonly orderOf?: (body: unknown) => OrderReference | undefined;
  /** Makes the JSON of the data from its description, for actions that answer a description. */
  readonly render?: Render<unknown>;
}

/** An action that may be given the order which the route's `orderOf` names. */
type OrderAction<Request, Data> = (
  context: ActionContext<Data>,
  request: Request,
  found: OrderText | undefined,
) => Promise<Answer>;

export type Render<Description> = (channel: Channel, description: Description) => string | TextPieces;

export function createRoute<Name extends string, Request extends AnySchema, Response extends AnySchema>(
  endpoint: Endpoint<Name, Request, Response>,
  action: Action<Static<Request>, Static<Response>>,
): Route<Name> {
  return { endpoint, action: action as Action<unknown, unknown> };
}

/** For an endpoint that only reads one order: it takes one round trip to the database. */
export function createOrderRoute<Name extends string, Request extends AnySchema, Response extends AnySchema>(
  endpoint: Endpoint<Name, Request, Response>,
  orderOf: (request: Static<Request>) => OrderReference | undefined,
  action: OrderAction<Static<Request>, Static<Response>>,
): Route<Name> {
  return { endpoint, action: action as Route['action'], orderOf: orderOf as Route['orderOf'] & {} };
}

/** For data that may be long or holds a signature: its description is stored, and a replay is made from that. */
export function createDescribedRoute<Name extends string, Request extends AnySchema, Description extends object>(
  endpoint: Endpoint<Name, Request>,
  action: Action<Static<Request>, Description>,
  render: Render<Description>,
): Route<Name> {
  return { endpoint, action: action as Action<unknown, unknown>, render: render as Render<unknown> };
}
