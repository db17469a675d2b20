import type { EncryptionVersion } from '@perennial/wire';
import type { Answer } from '../platform/answers/answer.js';
import type { Transactional } from '../platform/db/database.js';
import type { Caller } from '../platform/db/sharing/caller.js';
import type { IdempotentRun } from '../platform/idempotency/run-once.js';
import type { Origin } from '../platform/tracing.js';
import type { Channel } from './channels/channel.js';

/** The inputs of an action besides the request. */
export interface ActionContext<Data> {
  readonly channel: Channel;
  /** The texts of the request's encrypted fields that were decrypted so far, by ciphertext. */
  readonly texts: Map<string, string>;
  /** The version of encrypted fields that the request's header asks for. */
  readonly askedEncryption: EncryptionVersion | undefined;
  /** Identifies the request in the log and in calls made for it. */
  readonly origin: Origin;
  readonly caller: Caller;
  /** Access to the database. Uses only the channel's share of this node's connections. */
  readonly database: Transactional;
  /** Stores the answer in the same transaction as the effects. For endpoints that write. */
  readonly once: IdempotentRun;
  /** Creates a success answer from its data, or from a description of the data that the route renders. */
  readonly answer: (data: Data) => Answer;
  readonly place: {
    /**
     * Reserves a place for a long answer, because a node renders only some long answers at a time. An action with a
     * long answer must call this before it commits anything. Throws if no place is free; the action is called again
     * when a place is free.
     */
    reserve(): void;
  };
}

/** The implementation of an endpoint. Refuses by throwing a Rejection. */
export type Action<Request, Data> = (context: ActionContext<Data>, request: Request) => Promise<Answer>;
