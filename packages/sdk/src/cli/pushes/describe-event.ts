import { isObject } from '../../fields.js';

/** An event, as far as a line tells it. */
export interface ToldEvent {
  readonly eventType: string;
  /** As it came: of a type that is newer than this program it may be anything. */
  readonly data: unknown;
  /** Of periods that were voided together: the last one's. */
  readonly lastEventId?: string | null;
}

/** Its type, its order, and what happened, such as `period 2 SUCCESS`. What an event does not say is left out. */
export function describeEvent(event: ToldEvent): string[] {
  const orderNo = readText(event, 'orderNo');
  const happened = [describePeriods(event), describeState(event)].filter(isSaid).join(' ');
  const each = isSaid(event.lastEventId) ? ', an event each' : '';
  return [event.eventType, orderNo && `order ${orderNo}`, happened + each].filter(isSaid);
}

const isSaid = (text: string | null | undefined): text is string => Boolean(text);

function describePeriods(event: ToldEvent): string | undefined {
  const first = readText(event, 'cycleNo');
  const last = event.lastEventId?.split('-')[1];
  if (first === undefined) return undefined;
  return last === undefined ? `period ${first}` : `periods ${first} to ${last}`;
}

function describeState(event: ToldEvent): string | undefined {
  const dueAt = event.eventType === 'payment.upcoming' ? readText(event, 'expectPayTime') : undefined;
  return dueAt === undefined ? (readText(event, 'paymentStatus') ?? readText(event, 'orderStatus')) : `is due ${dueAt}`;
}

function readText({ data }: ToldEvent, name: string): string | undefined {
  const value = isObject(data) ? data[name] : undefined;
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}
