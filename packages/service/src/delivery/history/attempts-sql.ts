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

/** What tells the two kinds of events apart, to the letter as the index has it. */
export const isPayment = (e: string) => `${e}.event_type = 'payment.status.changed'`;

/** Pushes of an event that were accepted. None is older than its event, which spares looking into weeks before that. */
export const acceptedAttempts = ({ channelId, isPayment: kind, recordedAt, eventNo }: EventKeySql) =>
  `select * from delivery_attempts t where t.outcome = 'ACCEPTED' and t.channel_id = ${channelId} and t.is_payment = ${kind}
     and t.recorded_at = ${recordedAt} and t.event_no = ${eventNo} and t.at >= ${recordedAt}`;

export const failedAttempts = ({ channelId, recordedAt, eventNo }: EventKeySql) =>
  `select * from delivery_attempts t where t.outcome <> 'ACCEPTED' and t.channel_id = ${channelId}
     and t.event_no = ${eventNo} and t.at >= ${recordedAt}`;

/** Each kind by its own index. */
export const allAttempts = (key: EventKeySql) => `(${acceptedAttempts(key)} union all ${failedAttempts(key)})`;
