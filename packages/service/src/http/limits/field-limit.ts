import type { Channel } from '../../catalog/channels/channel.js';
import { MAX_FIELD_FAILURES } from '../../catalog/channels/field-failures.js';
import { countFieldFailure, type FieldFailureCount } from '../../catalog/channels/field-failures-sql.js';
import { alertText } from '../../platform/alerts/alert-wordings.js';
import { raiseAlert } from '../../platform/alerts/alerts-sql.js';
import type { Clock } from '../../platform/clock.js';
import type { Database } from '../../platform/db/database.js';
import { TooManyUnreadableFields, UnreadableField } from '../../subscriptions/domain/agreements/plaintext.js';
import { RateLimited } from '../answers/minute-limit.js';

/** Runs the action of a request. An encrypted field that cannot be read is counted before the request is answered. */
export type FieldLimit = <T>(channel: Channel, act: () => Promise<T>) => Promise<T>;

export interface FieldLimitDeps {
  readonly database: Database;
  readonly clock: Clock;
  /** In the sandbox alone: the same rejection with what is probably wrong. */
  readonly explain?: ((error: UnreadableField, channel: Channel) => UnreadableField) | undefined;
}

export function createFieldLimit({ database, clock, explain }: FieldLimitDeps): FieldLimit {
  return async (channel, act) => {
    const { channelId, appId, fieldFailures } = channel;
    fieldFailures.forgetEndedMinute(clock.now());
    try {
      return await act();
    } catch (error) {
      if (error instanceof UnreadableField) {
        fieldFailures.startMinute(clock.now());
        const counted = await countFailure(channelId, appId);
        fieldFailures.setCount(counted, clock.now());
        if (counted.failures <= MAX_FIELD_FAILURES) throw explain ? explain(error, channel) : error;
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
