import type { AnySchema, Endpoint, Static } from '@perennial/wire';
import type { Action, ActionContext } from '../catalog/action.js';
import type { Channel } from '../catalog/channels/channel.js';
import type { Answer, TextPieces } from '../platform/answers/answer.js';
import type { OrderText } from '../subscriptions/store/orders/order-texts-sql.js';
import type { OrderReference } from '../subscriptions/store/orders/orders-sql.js';

/**
 * A row of the route table. `endpoint` defines the route's schema, whether the route writes, and whether it needs a
 * token.
 */
export interface Route<Name extends string = string> {
  readonly endpoint: Endpoint<Name>;
  /** Called only with bodies that are valid against the endpoint's schema. */
  readonly action: OrderAction<unknown, unknown>;
  /** Returns the order that the body names. The admission statement reads this order too. */
  readonly orderOf?: (body: unknown) => OrderReference | undefined;
  /** Renders the answer's data as JSON, if the action returns only a description of the data. */
  readonly render?: Render<unknown>;
}

/** An action that also gets the order that the route's `orderOf` names. */
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

/** Creates a route that only reads one order. It usually takes one round trip to the database. */
export function createOrderRoute<Name extends string, Request extends AnySchema, Response extends AnySchema>(
  endpoint: Endpoint<Name, Request, Response>,
  orderOf: (request: Static<Request>) => OrderReference | undefined,
  action: OrderAction<Static<Request>, Static<Response>>,
): Route<Name> {
  return { endpoint, action: action as Route['action'], orderOf: orderOf as Route['orderOf'] & {} };
}

/**
 * Creates a route whose answers contain long or signed data. Stores only a description of the data. If a request is
 * repeated, its answer is rendered from the description.
 */
export function createDescribedRoute<Name extends string, Request extends AnySchema, Description extends object>(
  endpoint: Endpoint<Name, Request>,
  action: Action<Static<Request>, Description>,
  render: Render<Description>,
): Route<Name> {
  return { endpoint, action: action as Action<unknown, unknown>, render: render as Render<unknown> };
}
