import { alertText } from '../../alerts/alert-wordings.js';
import { raiseAlert } from '../../alerts/alerts-sql.js';
import type { Channel } from '../../catalog/channels/channel.js';
import { MAX_FIELD_FAILURES } from '../../catalog/channels/field-failures.js';
import { countFieldFailure, type FieldFailureCount } from '../../catalog/channels/field-failures-sql.js';
import type { Clock } from '../../platform/clock.js';
import type { Database } from '../../platform/db/database.js';
import { TooManyUnreadableFields, UnreadableField } from '../../subscriptions/domain/agreements/plaintext.js';
import { createMinuteLimit, RateLimited } from '../answers/minute-limit.js';

/** Runs a request's action. If a v1 field was unreadable, counts it before the request is answered. */
export type FieldLimit = <T>(channel: Channel, act: () => Promise<T>) => Promise<T>;

export interface FieldLimitDeps {
  readonly database: Database;
  readonly clock: Clock;
  /** Sandbox only: returns the same rejection with the probable cause. */
  readonly explain?: ((error: UnreadableField, channel: Channel) => UnreadableField) | undefined;
}

export function createFieldLimit({ database, clock, explain = (error) => error }: FieldLimitDeps): FieldLimit {
  // Explanations are limited too, because an explanation also tries v1. Without a limit it would be the decryption
  // oracle that counting prevents.
  const explanations = createMinuteLimit(MAX_FIELD_FAILURES, clock);

  function explainUncounted(error: UnreadableField, channel: Channel): UnreadableField {
    if (explanations.isReached(channel.appId)) return error;
    explanations.count(channel.appId);
    return explain(error, channel);
  }

  return async (channel, act) => {
    const { channelId, appId, fieldFailures } = channel;
    fieldFailures.forgetEndedMinute(clock.now());
    try {
      return await act();
    } catch (error) {
      if (error instanceof UnreadableField) {
        if (!error.isCounted) throw explainUncounted(error, channel);
        fieldFailures.startMinute(clock.now());
        const counted = await countFailure(channelId, appId);
        fieldFailures.setCount(counted, clock.now());
        if (counted.failures <= MAX_FIELD_FAILURES) throw explain(error, channel);
      } else if (!(error instanceof TooManyUnreadableFields)) throw error;
      throw new RateLimited(fieldFailures.secondsLeft(clock.now()));
    }
  };

  function countFailure(channelId: number, appId: string): Promise<FieldFailureCount> {
    return database.transaction(async (tx) => {
      const counted = await countFieldFailure(tx, channelId);
      if (counted.failures === MAX_FIELD_FAILURES) {
        await raiseAlert(tx, 'undecryptable-fields', appId, alertText('undecryptable-fields', counted.failures));
      }
      return counted;
    });
  }
}
