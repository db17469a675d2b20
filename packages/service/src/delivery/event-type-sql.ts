import { type EventType, eventTypes } from '@perennial/wire/enums';

/** Returns the index of a type among all event types. Delivery rows and lanes use it. */
export const typeNoOf = (eventType: EventType): number => eventTypes.indexOf(eventType);
export const ALL_TYPE_NOS: readonly number[] = eventTypes.map(typeNoOf);

/** SQL: the type's index for a row of due_events, undelivered_events or pushes. */
export const typeNoSql = (d: string) => `(${d}.is_payment::integer + 2 * ${d}.is_notice::integer)`;

/** SQL: the event type of a row of due_events, undelivered_events or pushes. */
export const eventTypeSql = (d: string) =>
  `(array[${eventTypes.map((one) => `'${one}'`).join()}])[1 + ${typeNoSql(d)}]`;

/** SQL: whether an event announces a debit or a billing. Must be exactly the expression in the index. */
export const isNotice = (e: string) => `${e}.event_type = 'payment.upcoming'`;
