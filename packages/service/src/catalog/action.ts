import type { Answer } from '../platform/answers/answer.js';
import type { Transactional } from '../platform/db/database.js';
import type { Caller } from '../platform/db/sharing/caller.js';
import type { IdempotentRun } from '../platform/idempotency/run-once.js';
import type { Origin } from '../platform/tracing.js';
import type { Channel } from './channels/channel.js';

/** What an action gets besides the request. */
export interface ActionContext<Data> {
  readonly channel: Channel;
  /** Identifies the request in the log, and in calls that are made for it. */
  readonly origin: Origin;
  readonly caller: Caller;
  /** The database, through the channel's share of this node's connections. */
  readonly database: Transactional;
  /** For endpoints that write: stores the answer in the same transaction as the effects. */
  readonly once: IdempotentRun;
  /** Makes a success answer with this data, or from this description. */
  readonly answer: (data: Data) => Answer;
  readonly place: {
    /**
     * To be called before anything else by an action with a long answer: a node makes only some long answers at a time. Throws
     * when no place is free; the action is called again when it has one.
     */
    reserve(): void;
  };
}

/** What an endpoint does. Refuses by throwing a Rejection. */
export type Action<Request, Data> = (context: ActionContext<Data>, request: Request) => Promise<Answer>;
