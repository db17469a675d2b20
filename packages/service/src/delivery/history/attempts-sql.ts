/** The key of an event, as SQL expressions. */
export interface EventKeySql {
  readonly channelId: string;
  readonly isPayment: string;
  readonly recordedAt: string;
  readonly eventNo: string;
}

export const keyOfEvent = (e: string): EventKeySql => ({
  channelId: `${e}.channel_id`,
  isPayment: `(${isPayment(e)})`,
  recordedAt: `${e}.recorded_at`,
  eventNo: `${e}.event_no`,
});

/** SQL: whether an event is of the type payment.status.changed. Must be exactly the expression in the index. */
export const isPayment = (e: string) => `${e}.event_type = 'payment.status.changed'`;

/** SQL: the accepted pushes of an event. No push is older than its event, so earlier partitions are not searched. */
export const acceptedAttempts = ({ channelId, isPayment: kind, recordedAt, eventNo }: EventKeySql) =>
  `select * from delivery_attempts t where t.outcome = 'ACCEPTED' and t.channel_id = ${channelId} and t.is_payment = ${kind}
     and t.recorded_at = ${recordedAt} and t.event_no = ${eventNo} and t.at >= ${recordedAt}`;

export const failedAttempts = ({ channelId, recordedAt, eventNo }: EventKeySql) =>
  `select * from delivery_attempts t where t.outcome <> 'ACCEPTED' and t.channel_id = ${channelId}
     and t.event_no = ${eventNo} and t.at >= ${recordedAt}`;

/** SQL: all pushes of an event. Reads accepted and failed pushes separately, because each kind has its own index. */
export const allAttempts = (key: EventKeySql) => `(${acceptedAttempts(key)} union all ${failedAttempts(key)})`;
