import { type EventType, eventTypes } from '@perennial/wire/enums';

/** The place of a type among all types: what the rows of deliveries and the lanes go by. */
export const typeNoOf = (eventType: EventType): number => eventTypes.indexOf(eventType);
export const ALL_TYPE_NOS: readonly number[] = eventTypes.map(typeNoOf);

/** SQL: the same of a row of due_events or undelivered_events, or of pushes. */
export const typeNoSql = (d: string) => `(${d}.is_payment::integer + 2 * ${d}.is_notice::integer)`;

/** SQL: the type of such a row. */
export const eventTypeSql = (d: string) =>
  `(array[${eventTypes.map((one) => `'${one}'`).join()}])[1 + ${typeNoSql(d)}]`;

/** SQL: whether an event is told before a debit, to the letter as the index has it. */
export const isNotice = (e: string) => `${e}.event_type = 'payment.upcoming'`;
