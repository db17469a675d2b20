import { isObject } from '../../fields.js';

/** The parts of an event that one line shows. */
export interface ShownEvent {
  readonly eventType: string;
  /** The data as received. If the event type is newer than this program, the data can have any form. */
  readonly data: unknown;
  /**
   * Set if one record stands for the events of several periods that were voided together: the id of the last period's
   * event.
   */
  readonly lastEventId?: string | null;
}

/** Returns the type, the order and the change, such as `period 2 SUCCESS`. Omits parts that the event does not have. */
export function describeEvent(event: ShownEvent): string[] {
  const orderNo = readText(event, 'orderNo');
  const happened = [describePeriods(event), describeState(event)].filter(isPresent).join(' ');
  const each = isPresent(event.lastEventId) ? ', an event each' : '';
  return [event.eventType, orderNo && `order ${orderNo}`, happened + each].filter(isPresent);
}

const isPresent = (text: string | null | undefined): text is string => Boolean(text);

function describePeriods(event: ShownEvent): string | undefined {
  const first = readText(event, 'cycleNo');
  const last = event.lastEventId?.split('-')[1];
  if (first === undefined) return undefined;
  return last === undefined ? `period ${first}` : `periods ${first} to ${last}`;
}

function describeState(event: ShownEvent): string | undefined {
  const dueAt = event.eventType === 'payment.upcoming' ? readText(event, 'expectPayTime') : undefined;
  return dueAt === undefined ? (readText(event, 'paymentStatus') ?? readText(event, 'orderStatus')) : `is due ${dueAt}`;
}

function readText({ data }: ShownEvent, name: string): string | undefined {
  const value = isObject(data) ? data[name] : undefined;
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}
