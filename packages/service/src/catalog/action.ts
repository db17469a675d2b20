import type { Answer } from '../platform/answers/answer.js';
import type { Transactional } from '../platform/db/database.js';
import type { Caller } from '../platform/db/sharing/caller.js';
import type { IdempotentRun } from '../platform/idempotency/run-once.js';
import type { Origin } from '../platform/tracing.js';
import type { Channel } from './channels/channel.js';

/** What an action is given beside the request. */
export interface ActionContext<Data> {
  readonly channel: Channel;
  /** The request itself, for the log and for what is called because of it. */
  readonly origin: Origin;
  readonly caller: Caller;
  /** What the action asks the database with: the channel's share of this node's connections. */
  readonly database: Transactional;
  /** For endpoints that write: records the answer with the effects. */
  readonly once: IdempotentRun;
  /** A success with this data, or with what this describes. */
  readonly answer: (data: Data) => Answer;
  readonly place: {
    /**
     * For an action that will answer at length, before it does anything: a place among the long answers that a node makes
     * at once. Throws when none is free; the action is called again when it has one.
     */
    reserve(): void;
  };
}

/** One per endpoint. It says no by throwing a Rejection. */
export type Action<Request, Data> = (context: ActionContext<Data>, request: Request) => Promise<Answer>;
